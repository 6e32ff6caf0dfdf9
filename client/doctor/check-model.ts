/** Whether a model is configured. No provider is asked: that would cost, and tell a key's owner nothing new. */
import { accessSync, constants } from 'node:fs';
import type { Finding } from './finding.ts';

const KEYS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  'openai-compatible': ['LATCHKEY_MODEL_BASE_URL'],
};

export function checkModel(env: NodeJS.ProcessEnv): Finding {
  const about = 'model';
  const name = env['LATCHKEY_MODEL'];
  if (!name) {
    const found = Object.entries(KEYS).find(([, keys]) => keys.every((key) => env[key]));
    const detail = found === undefined ? 'no model is configured' : `no model is named; a key for ${found[0]} is set`;
    const nextStep = 'Set LATCHKEY_MODEL, or give --model: anthropic/<model>, openai/<model>, scripted:<file>.';
    return { about, verdict: 'note', detail, nextStep };
  }
  if (name.startsWith('scripted:')) return checkScript(name.slice('scripted:'.length));
  const provider = /^([a-z-]+)[/:]/.exec(name)?.[1] ?? '';
  const keys = KEYS[provider];
  if (keys === undefined) {
    const known = [...Object.keys(KEYS), 'scripted'].join(', ');
    const nextStep = `Name one by <provider>/<model>; known: ${known}.`;
    return { about, verdict: 'missing', detail: `LATCHKEY_MODEL is ${JSON.stringify(name)}`, nextStep };
  }
  const unset = keys.filter((key) => !env[key]);
  if (unset.length === 0) return { about, verdict: 'ok', detail: `${name}, ${keys.join(', ')} set` };
  return {
    about,
    verdict: 'missing',
    detail: `${name} needs ${unset.join(', ')}`,
    nextStep: `Set ${unset.join(', ')}.`,
  };
}

function checkScript(file: string): Finding {
  const about = 'model';
  try {
    accessSync(file, constants.R_OK);
    return { about, verdict: 'ok', detail: `answers come from ${file}` };
  } catch {
    return {
      about,
      verdict: 'missing',
      detail: `the script ${file} can't be read`,
      nextStep: 'Correct LATCHKEY_MODEL.',
    };
  }
}
