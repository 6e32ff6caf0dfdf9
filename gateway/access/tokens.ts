/** Bearer tokens, each for all chats or for some. */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { CodedError, Refusal } from '../../contract/failures.ts';
import type { ChatId } from '../../contract/ids.ts';
import { chatIdSchema } from '../../contract/wire/envelope.ts';

const SETTING = 'LATCHKEY_GATEWAY_TOKENS';
/** Shorter ones can be guessed. */
const TOKEN_CHARACTERS_MIN = 16;

const CHATS = 'must be "*" or a list of chat ids, where one that ends in * stands for all that begin so';

const tokensSchema = z
  .array(
    z.strictObject(
      {
        name: z.string('must be a text').min(1, 'must not be empty'),
        token: z
          .string('must be a text')
          .min(TOKEN_CHARACTERS_MIN, `must have at least ${TOKEN_CHARACTERS_MIN} characters`)
          // Others can't travel in a header as they are.
          .regex(/^[\x21-\x7e]*$/, 'must be of ASCII characters without blanks'),
        /** `"*"`, or chat ids; one that ends in `*` stands for all that begin so. */
        chats: z.union([z.literal('*'), z.array(z.string().refine(isPattern, CHATS), CHATS).min(1, CHATS)], CHATS),
      },
      // A field that is not known isn't shown: it may be a token in the wrong place.
      'must be an object with the fields "name", "token" and "chats" and no other',
    ),
    'must be a list, such as [{"name": "app", "token": "…", "chats": "*"}]',
  )
  .min(1, 'names no token');

/** What somebody may use. */
export interface Access {
  /** Of the token, for limits and logs; never the token. */
  readonly name: string;
  mayUse(chatId: string): boolean;
  /** The id of a chat that is made without one. Throws `bad_request` when none can be made up. */
  makeChatId(): ChatId;
}

/** Without tokens whoever reaches the gateway may use everything: it listens on loopback only then. */
export const EVERYTHING: Access = accessOf('local', '*');

/** Of a request that nobody has checked. */
export const NOTHING: Access = accessOf('nobody', []);

export class Tokens {
  readonly #entries: readonly { readonly digest: Buffer; readonly access: Access }[];

  constructor(entries: z.infer<typeof tokensSchema>) {
    this.#entries = entries.map(({ name, token, chats }) => ({
      digest: digestOf(token),
      access: accessOf(name, chats),
    }));
  }

  /** Compares with every token in constant time, so that nothing can be learnt from how long it took. */
  findAccess(token: string): Access | undefined {
    const digest = digestOf(token);
    let found: Access | undefined;
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry.access;
    return found;
  }
}

/** What some chat's id can match. */
function isPattern(pattern: string): boolean {
  return pattern === '*' || chatIdSchema.safeParse(pattern.replace(/\*$/, '')).success;
}

function accessOf(name: string, chats: '*' | readonly string[]): Access {
  const patterns = chats === '*' ? ['*'] : chats;
  return {
    name,
    mayUse: (chatId) => patterns.some((pattern) => matches(pattern, chatId)),
    makeChatId: () => {
      const unique = randomUUID();
      const found = patterns
        .filter((pattern) => pattern.endsWith('*'))
        .map((pattern) => chatIdSchema.safeParse(`${pattern.slice(0, -1)}${unique}`))
        // A long beginning leaves no room.
        .find(({ success }) => success);
      if (found?.data !== undefined) return found.data;
      throw new Refusal(
        'bad_request',
        `this token may only use the chats ${patterns.join(', ')}: give chatId`,
        'chatId',
      );
    },
  };
}

function matches(pattern: string, chatId: string): boolean {
  return pattern.endsWith('*') ? chatId.startsWith(pattern.slice(0, -1)) : chatId === pattern;
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * `given` is a JSON array, or the path of a file that holds one:
 * `[{"name": "app", "token": "…", "chats": "*"}, {"name": "ci", "token": "…", "chats": ["ci-*", "nightly"]}]`.
 * Throws `configuration` without ever showing a token.
 */
export function readTokens(given: string | undefined): Tokens | undefined {
  if (given === undefined || given === '') return undefined;
  const isInline = /^\s*[[{]/.test(given);
  const json = parseJson(isInline ? given : readFile(given), isInline);
  const parsed = tokensSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw refuse(`${sayPlace(issue?.path ?? [], json)} ${issue?.message ?? 'is invalid'}`);
  }
  const entries = parsed.data;
  for (const [index, { name, token }] of entries.entries()) {
    const before = entries.slice(0, index);
    if (before.some((other) => other.name === name)) throw refuse(`the name "${name}" is there twice`);
    // Whose request it is, and what it may use, would be a matter of their order.
    const same = before.find((other) => other.token === token);
    if (same !== undefined) throw refuse(`"${same.name}" and "${name}" have the same token`);
  }
  return new Tokens(entries);
}

/** `chats of entry 2 ("ci")`, counted from 1 as people do. */
function sayPlace([index, field]: readonly PropertyKey[], json: unknown): string {
  if (typeof index !== 'number') return 'it';
  const { name } = ((json as unknown[])[index] ?? {}) as { name?: unknown };
  const entry = `entry ${index + 1}${typeof name === 'string' && name !== '' ? ` ("${name}")` : ''}`;
  return field === undefined ? entry : `${String(field)} of ${entry}`;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw refuse(`the file ${path} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

function parseJson(text: string, isInline: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message may quote a token.
    throw refuse(isInline ? 'it begins like JSON and is none' : 'the file holds no JSON');
  }
}

function refuse(problem: string): CodedError {
  return new CodedError('configuration', `${SETTING}: ${problem}.`, SETTING);
}
