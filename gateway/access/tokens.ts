/** Bearer tokens, each for all chats or for some. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { CodedError } from '../../contract/failures.ts';

const SETTING = 'LATCHKEY_GATEWAY_TOKENS';
/** Shorter ones can be guessed. */
const TOKEN_CHARACTERS_MIN = 16;

const tokensSchema = z
  .array(
    z.strictObject({
      name: z.string().min(1),
      token: z.string().min(TOKEN_CHARACTERS_MIN, `a token has at least ${TOKEN_CHARACTERS_MIN} characters`),
      /** `"*"`, or chat ids; one that ends in `*` stands for all that begin so. */
      chats: z.union([z.literal('*'), z.array(z.string().min(1)).min(1)]),
    }),
  )
  .min(1, 'it names no token');

/** What somebody may use. */
export interface Access {
  /** Of the token, for limits and logs; never the token. */
  readonly name: string;
  mayUse(chatId: string): boolean;
}

/** Without tokens whoever reaches the gateway may use everything: it listens on loopback only then. */
export const EVERYTHING: Access = { name: 'local', mayUse: () => true };

/** Of a request that nobody has checked. */
export const NOTHING: Access = { name: 'nobody', mayUse: () => false };

export class Tokens {
  readonly #entries: readonly { readonly digest: Buffer; readonly access: Access }[];

  constructor(entries: z.infer<typeof tokensSchema>) {
    this.#entries = entries.map(({ name, token, chats }) => ({
      digest: digestOf(token),
      access: { name, mayUse: (chatId) => chats === '*' || chats.some((pattern) => matches(pattern, chatId)) },
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
  const isInline = given.trimStart().startsWith('[');
  const parsed = tokensSchema.safeParse(parseJson(isInline ? given : readFile(given), isInline));
  if (parsed.success) {
    const names = parsed.data.map(({ name }) => name);
    const doubled = names.find((name, index) => names.indexOf(name) !== index);
    if (doubled !== undefined) throw refuse(`the name "${doubled}" is there twice`);
    return new Tokens(parsed.data);
  }
  const issue = parsed.error.issues[0];
  throw refuse(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'invalid'}`);
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
