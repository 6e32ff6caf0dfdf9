/** Reads what a provider needs from the environment; what is wrong is refused by the variable's name. */
import { Refusal } from '../../contract/failures.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as not set. */
export function findText(env: Environment, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}

export function requireText(env: Environment, variable: string, what: string): string {
  const text = findText(env, variable);
  if (text !== undefined) return text;
  throw new Refusal('configuration', `${variable} is not set: the turn worker needs ${what} in it`, variable);
}

/** An API key travels in a header, so it is one line of visible characters; its text is in no message. */
export function checkKey(key: string, variable: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new Refusal('configuration', `${variable} has blanks or other characters that no key has`, variable);
}

export function parseBaseUrl(text: string, variable: string): string {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return text.replace(/\/+$/, '');
  throw new Refusal(
    'configuration',
    `${variable} is ${JSON.stringify(text)}: it must be an http or https address such as http://127.0.0.1:8080/v1`,
    variable,
  );
}

export function findWholeNumber(env: Environment, variable: string): number | undefined {
  const text = findText(env, variable);
  if (text === undefined) return undefined;
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new Refusal(
    'configuration',
    `${variable} is ${JSON.stringify(text)}: it must be a positive whole number`,
    variable,
  );
}

export function readSwitch(env: Environment, variable: string, fallback: boolean): boolean {
  const text = findText(env, variable);
  if (text === undefined) return fallback;
  if (text === 'on' || text === 'off') return text === 'on';
  throw new Refusal('configuration', `${variable} is ${JSON.stringify(text)}: it must be "on" or "off"`, variable);
}
