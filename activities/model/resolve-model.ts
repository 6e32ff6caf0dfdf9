import type { LanguageModelV4 } from '@ai-sdk/provider';
import { Refusal } from '../../contract/failures.ts';
import { createScriptedModel } from './scripted-model.ts';

/** Gives the model of a name; throws a refusal (`configuration`) for one that it doesn't know. */
export type ModelResolver = (name: string) => LanguageModelV4;

export interface ResolveModelOptions {
  /** Where keys and addresses of providers come from. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Provider = (modelId: string, options: ResolveModelOptions) => LanguageModelV4;

const PROVIDERS: Readonly<Record<string, Provider>> = {
  scripted: (file) => createScriptedModel(file),
};

/** A model by its name, `<provider>:<model>`, such as `scripted:./script.json`. */
export function resolveModel(name: string, options: ResolveModelOptions): LanguageModelV4 {
  const border = name.indexOf(':');
  const provider = name.slice(0, Math.max(border, 0));
  const modelId = name.slice(border + 1);
  if (!Object.hasOwn(PROVIDERS, provider) || modelId === '') {
    const known = Object.keys(PROVIDERS).join(', ');
    throw new Refusal(
      'configuration',
      `model "${name}" is not known: give <provider>:<model>, provider one of ${known}`,
      'model',
    );
  }
  return PROVIDERS[provider]!(modelId, options);
}
