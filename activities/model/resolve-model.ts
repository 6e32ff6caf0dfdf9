import type { LanguageModelV4 } from '@ai-sdk/provider';
import { Refusal } from '../../contract/failures.ts';
import { createAnthropicModel, createCompatibleModel, createOpenAiModel } from './providers.ts';
import type { Environment } from './provider-settings.ts';
import { createScriptedModel } from './scripted-model.ts';

/** Gives the model of a name; throws a refusal (`configuration`) for one that can't be used, naming the setting. */
export type ModelResolver = (name: string) => LanguageModelV4;

export interface ResolveModelOptions {
  /** Where keys and addresses of providers come from. */
  readonly env: Environment;
}

/** `scripted:` has a file behind it, whose name may have slashes; the others have a model's name. */
const SCRIPTED = 'scripted:';

const PROVIDERS: Readonly<Record<string, (modelId: string, env: Environment) => LanguageModelV4>> = {
  anthropic: createAnthropicModel,
  openai: createOpenAiModel,
  'openai-compatible': createCompatibleModel,
};

/** A model by its name, such as `anthropic/<model>` or `scripted:./script.json`. */
export function resolveModel(name: string, { env }: ResolveModelOptions): LanguageModelV4 {
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
