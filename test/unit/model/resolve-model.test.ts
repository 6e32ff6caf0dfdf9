import { describe, expect, test } from 'vitest';
import { resolveModel } from '../../../activities/model/resolve-model.ts';

const KEYS = { ANTHROPIC_API_KEY: 'key', OPENAI_API_KEY: 'key', LATCHKEY_MODEL_BASE_URL: 'http://127.0.0.1:1/v1' };

describe('a model is found by its name', () => {
  test.each([
    ['anthropic/some-model', 'anthropic.messages', 'some-model'],
    ['openai/some-model', 'openai.chat', 'some-model'],
    ['openai-compatible/maker/some-model', 'openai-compatible.chat', 'maker/some-model'],
    ['scripted:folder/script.json', 'scripted', 'folder/script.json'],
  ])('%s', async (name, provider, modelId) => {
    expect(await resolveModel(name, { env: KEYS })).toMatchObject({ provider, modelId });
  });

  test.each(['gpt', 'anthropic/', '/x', 'nobody/x', 'constructor/x'])(
    'and "%s" is refused with what is known',
    async (name) => {
      await expect(resolveModel(name, { env: KEYS })).rejects.toThrow(
        /give anthropic\/<model>, openai\/<model>, openai-comp/,
      );
    },
  );
});

describe('a wrong setting is one error that names its variable', () => {
  test.each([
    ['anthropic/m', {}, 'ANTHROPIC_API_KEY', /is not set/],
    ['anthropic/m', { ANTHROPIC_API_KEY: ' ' }, 'ANTHROPIC_API_KEY', /is not set/],
    ['anthropic/m', { ANTHROPIC_API_KEY: 'a b' }, 'ANTHROPIC_API_KEY', /no key has/],
    ['anthropic/m', { ...KEYS, ANTHROPIC_BASE_URL: 'localhost' }, 'ANTHROPIC_BASE_URL', /http or https address/],
    ['openai/m', {}, 'OPENAI_API_KEY', /is not set/],
    ['openai/m', { ...KEYS, OPENAI_BASE_URL: 'ftp://x' }, 'OPENAI_BASE_URL', /http or https address/],
    ['openai-compatible/m', {}, 'LATCHKEY_MODEL_BASE_URL', /is not set/],
    ['openai-compatible/m', { LATCHKEY_MODEL_BASE_URL: 'x:y' }, 'LATCHKEY_MODEL_BASE_URL', /http or https address/],
    ['openai-compatible/m', { ...KEYS, LATCHKEY_MODEL_API_KEY: 'ä' }, 'LATCHKEY_MODEL_API_KEY', /no key has/],
    ['openai/m', { ...KEYS, LATCHKEY_MODEL_STREAMING: 'no' }, 'LATCHKEY_MODEL_STREAMING', /"on" or "off"/],
    [
      'openai/m',
      { ...KEYS, LATCHKEY_MODEL_MAX_OUTPUT_TOKENS: '0' },
      'LATCHKEY_MODEL_MAX_OUTPUT_TOKENS',
      /whole number/,
    ],
  ])('%s with %o names %s', async (name, env, field, message) => {
    const found = resolveModel(name, { env });
    await expect(found).rejects.toThrow(expect.objectContaining({ code: 'configuration', field }));
    await expect(found).rejects.toThrow(message);
    await expect(found).rejects.toThrow(field);
  });

  test('a key is never part of the message', async () => {
    const found = resolveModel('openai/m', { env: { OPENAI_API_KEY: 'secret key' } });
    await expect(found).rejects.not.toThrow(/secret/);
  });
});
