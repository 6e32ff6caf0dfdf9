import type { LanguageModelV4 } from '@ai-sdk/provider';
import { Refusal } from '../../contract/failures.ts';
import type { Environment } from './provider-settings.ts';
import { createScriptedModel } from './scripted-model.ts';

/** Gives the model of a name; fails with a refusal (`configuration`) for one that can't be used, naming the setting. */
export type ModelResolver = (name: string) => LanguageModelV4 | Promise<LanguageModelV4>;

export interface ResolveModelOptions {
  /** Where keys and addresses of providers come from. */
  readonly env: Environment;
}

/** `scripted:` has a file behind it, whose name may have slashes; the others have a model's name. */
const SCRIPTED = 'scripted:';

type CreateModel = (modelId: string, env: Environment) => Promise<LanguageModelV4>;

/**
 * Their packages are loaded when a model of one is asked for: with all that they bring they are a sixth of what a turn
 * worker's start loads, and what needs no provider starts often, tests and the demo above all.
 */
const loadProviders = () => import('./providers.ts');

const PROVIDERS: Readonly<Record<string, CreateModel>> = {
  anthropic: async (...model) => (await loadProviders()).createAnthropicModel(...model),
  openai: async (...model) => (await loadProviders()).createOpenAiModel(...model),
  'openai-compatible': async (...model) => (await loadProviders()).createCompatibleModel(...model),
};

/** A model by its name, such as `anthropic/<model>` or `scripted:./script.json`. */
export async function resolveModel(name: string, { env }: ResolveModelOptions): Promise<LanguageModelV4> {
  if (name.startsWith(SCRIPTED) && name.length > SCRIPTED.length)
    return createScriptedModel(name.slice(SCRIPTED.length));
  const border = name.indexOf('/');
  const provider = name.slice(0, Math.max(border, 0));
  const modelId = name.slice(border + 1);
  if (Object.hasOwn(PROVIDERS, provider) && modelId !== '') return PROVIDERS[provider]!(modelId, env);
  const known = Object.keys(PROVIDERS).map((each) => `${each}/<model>`);
  throw new Refusal(
    'configuration',
    `model "${name}" is not known: give ${known.join(', ')} or ${SCRIPTED}<file>`,
    'model',
  );
}
