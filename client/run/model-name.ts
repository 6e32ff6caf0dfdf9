/** Which model answers: --model, else the chat's own, else LATCHKEY_MODEL. Whether its provider accepts us is the turn worker's to find out. */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { CodedError } from '../../contract/failures.ts';

const SCRIPTED = 'scripted:';

/** A variable of the shell is no word about a chat that has a model already. */
export function modelOfChat(
  flag: string | undefined,
  chat: { readonly model?: string | undefined } | undefined,
  env: NodeJS.ProcessEnv,
): string {
  return flag === undefined && chat?.model !== undefined ? chat.model : requireModelName(flag, env);
}

/** Throws one `configuration` error with examples. A script's path becomes absolute: the worker runs elsewhere. */
export function requireModelName(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  const name = flag || env['LATCHKEY_MODEL'];
  if (name === undefined || name === '') {
    throw new CodedError(
      'configuration',
      [
        'no model is configured. Give --model NAME, or set LATCHKEY_MODEL. Examples:',
        '    --model anthropic/<model>        with ANTHROPIC_API_KEY',
        '    --model openai/<model>           with OPENAI_API_KEY',
        '    --model scripted:./script.json   answers from a file; no key',
      ].join('\n'),
      'model',
    );
  }
  if (!name.startsWith(SCRIPTED)) return name;
  const file = resolve(name.slice(SCRIPTED.length));
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new CodedError('configuration', `the script ${file} of the scripted model can't be read.`, 'model');
  }
  return `${SCRIPTED}${file}`;
}
