/**
 * Real providers through the AI SDK. Every setting is given here, so none is read from the process by the SDK itself.
 * Nothing of it retries: the provider packages send a request once, and Temporal repeats the activity.
 */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4Message } from '@ai-sdk/provider';
import { defaultSettingsMiddleware, simulateStreamingMiddleware, wrapLanguageModel } from 'ai';
import type { LanguageModelMiddleware } from 'ai';
import { patientFetch } from './patient-fetch.ts';
import { checkKey, findText, findWholeNumber, parseBaseUrl, readSwitch, requireText } from './provider-settings.ts';
import type { Environment } from './provider-settings.ts';

const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
const OPENAI_URL = 'https://api.openai.com/v1';

export function createAnthropicModel(modelId: string, env: Environment): LanguageModelV4 {
  const apiKey = checkKey(requireText(env, 'ANTHROPIC_API_KEY', "Anthropic's API key"), 'ANTHROPIC_API_KEY');
  const baseURL = withVersion(parseBaseUrl(findText(env, 'ANTHROPIC_BASE_URL') ?? ANTHROPIC_URL, 'ANTHROPIC_BASE_URL'));
  const model = createAnthropic({ apiKey, baseURL, fetch: patientFetch })(modelId);
  return withSettings(model, env, [markForCaching]);
}

/**
 * By chat completions, not by responses: the former is what every proxy of OpenAI's speaks, and the conversation is
 * ours, so nothing of it is to be kept at the provider.
 */
export function createOpenAiModel(modelId: string, env: Environment): LanguageModelV4 {
  const apiKey = checkKey(requireText(env, 'OPENAI_API_KEY', "OpenAI's API key"), 'OPENAI_API_KEY');
  const baseURL = parseBaseUrl(findText(env, 'OPENAI_BASE_URL') ?? OPENAI_URL, 'OPENAI_BASE_URL');
  return withSettings(createOpenAI({ apiKey, baseURL, fetch: patientFetch }).chat(modelId), env);
}

/** Any server that speaks OpenAI's chat completions; many of them need no key. */
export function createCompatibleModel(modelId: string, env: Environment): LanguageModelV4 {
  const variable = 'LATCHKEY_MODEL_BASE_URL';
  const baseURL = parseBaseUrl(requireText(env, variable, "the address of the provider's API"), variable);
  const apiKey = findText(env, 'LATCHKEY_MODEL_API_KEY');
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL,
    includeUsage: true,
    fetch: patientFetch,
    ...(apiKey === undefined ? {} : { apiKey: checkKey(apiKey, 'LATCHKEY_MODEL_API_KEY') }),
  });
  return withSettings(provider.chatModel(modelId), env);
}

/** Other tools of Anthropic's take this address without the version, so people set it so. */
function withVersion(url: string): string {
  return URL.parse(url)?.pathname === '/' ? `${url}/v1` : url;
}

function withSettings(
  model: LanguageModelV4,
  env: Environment,
  more: readonly LanguageModelMiddleware[] = [],
): LanguageModelV4 {
  const maxOutputTokens = findWholeNumber(env, 'LATCHKEY_MODEL_MAX_OUTPUT_TOKENS');
  const middleware = [
    ...more,
    ...(maxOutputTokens === undefined ? [] : [defaultSettingsMiddleware({ settings: { maxOutputTokens } })]),
    // Some servers can't stream tool calls; their whole answer then comes as one stream of ours.
    ...(readSwitch(env, 'LATCHKEY_MODEL_STREAMING', true) ? [] : [simulateStreamingMiddleware()]),
  ];
  return middleware.length === 0 ? model : wrapLanguageModel({ model, middleware });
}

const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

/** Anthropic charges a conversation in full at each step, unless it is told up to where the next one will be the same. */
const markForCaching: LanguageModelMiddleware = {
  specificationVersion: 'v4',
  transformParams: async ({ params }) => {
    const last = params.prompt.length - 1;
    const prompt = params.prompt.map((message, index): LanguageModelV4Message => {
      const isMark = index === last || message.role === 'system';
      return isMark ? { ...message, providerOptions: { ...message.providerOptions, ...CACHED } } : message;
    });
    return { ...params, prompt };
  },
};
