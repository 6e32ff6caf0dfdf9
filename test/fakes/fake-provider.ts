/** What the fake providers share: an HTTP server on loopback that gives one scripted reply a request. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export interface FakeCall {
  /** Absent: the field is left out; an id may be as odd as a test wants. */
  readonly id?: string;
  readonly name?: string;
  /** A text is sent as it is, also if it isn't JSON. */
  readonly arguments: string | object;
}

export type FakeReply =
  /** An answer; with `breaksAfter` the connection is cut after so many pieces of its text. */
  | {
      readonly text?: string;
      readonly calls?: readonly FakeCall[];
      readonly breaksAfter?: number;
      readonly delayMs?: number;
      readonly isCutShort?: boolean;
    }
  | { readonly status: number; readonly error: object; readonly headers?: Record<string, string> }
  /** The answer begins well, then the stream itself says that something is wrong. */
  | { readonly text: string; readonly streamError: object }
  /** Nothing comes until the caller leaves. */
  | 'silence';

/** Speaks a provider's dialect. */
export interface Dialect {
  readonly path: string;
  /** Why a strict provider would answer 400; undefined when nothing is wrong. */
  refuse(body: never): string | undefined;
  errorBody(message: string): object;
  /** The events of a stream as they are written, the text in pieces. */
  events(reply: Exclude<FakeReply, 'silence'>, body: never): readonly string[];
}

export interface FakeProvider {
  /** With the version, as a user configures it. */
  readonly baseUrl: string;
  readonly bodies: readonly Record<string, unknown>[];
  readonly headers: readonly IncomingMessage['headers'][];
  /** When each request came, on the monotonic clock. */
  readonly timesMs: readonly number[];
}

export interface FakeLimits {
  /** What is longer is refused, as real providers do, and uses up no reply. */
  readonly tokensMax?: number;
}

const PIECES = 4;
/** As a tokeniser has it, near enough. */
const CHARACTERS_PER_TOKEN = 4;

function refuseLength({ messages }: { messages?: unknown }, { tokensMax = Infinity }: FakeLimits): string | undefined {
  const tokens = Math.ceil(JSON.stringify(messages).length / CHARACTERS_PER_TOKEN);
  return tokens > tokensMax ? `prompt is too long: ${tokens} tokens > ${tokensMax} maximum` : undefined;
}

/** Gives the replies in turn; past the last one it answers "done". Closed when the test has ended. */
export async function startFakeProvider(
  dialect: Dialect,
  replies: readonly FakeReply[],
  limits: FakeLimits = {},
): Promise<FakeProvider> {
  const bodies: Record<string, unknown>[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const timesMs: number[] = [];
  let answered = 0;
  const server = await serveDialect(dialect, {
    limits,
    onRequest: (body, request) => {
      bodies.push(body);
      headers.push(request.headers);
      timesMs.push(performance.now());
    },
    answer: () => replies[answered++] ?? { text: 'done' },
  });
  onTestFinished(() => server.close());
  return { baseUrl: server.baseUrl, bodies, headers, timesMs };
}

export interface ServeOptions {
  readonly limits?: FakeLimits;
  readonly onRequest?: (body: Record<string, unknown>, request: IncomingMessage) => void;
  readonly onRefusal?: (reason: string, body: Record<string, unknown>) => void;
  readonly answer: (body: Record<string, unknown>) => FakeReply;
}

/** Also outside of a test: whoever starts it closes it. */
export async function serveDialect(
  dialect: Dialect,
  { limits = {}, onRequest, onRefusal, answer }: ServeOptions,
): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url !== dialect.path) return send(response, 404, dialect.errorBody(`no such path: ${request.url}`));
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    onRequest?.(body, request);
    const refusal = dialect.refuse(body as never) ?? refuseLength(body, limits);
    if (refusal !== undefined) {
      onRefusal?.(refusal, body);
      return send(response, 400, dialect.errorBody(refusal));
    }
    const reply = answer(body);
    if (reply === 'silence') return;
    if ('status' in reply) return send(response, reply.status, reply.error, reply.headers);
    await stream(response, dialect.events(reply, body as never), 'streamError' in reply ? {} : reply);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function stream(
  response: ServerResponse,
  events: readonly string[],
  reply: { readonly breaksAfter?: number; readonly delayMs?: number },
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let pieces = 0;
  for (const event of events) {
    await new Promise((resolve) => response.write(event, resolve));
    if (event.includes(PIECE_MARK)) pieces += 1;
    if (reply.breaksAfter === pieces && pieces > 0) return void response.destroy();
    if (reply.delayMs !== undefined) await delay(reply.delayMs);
  }
  response.end();
}

/** In each event that carries text of an answer: both dialects have it in their type's or field's name. */
const PIECE_MARK = '"piece"';

/** A text as it is streamed. */
export function piecesOf(text: string): string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / PIECES));
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}

export function argumentsText(call: FakeCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** One message's calls and what came right after them, in the words of neither dialect. */
export interface AskedCalls {
  readonly asked: readonly { readonly id: unknown; readonly arguments: unknown }[];
  readonly answeredIds: readonly unknown[];
}

/** What every strict provider refuses in a history (design §6): dangling, doubled, unordered or unparsable calls, odd ids. */
export function refuseCalls(messages: readonly AskedCalls[]): string | undefined {
  const seen = new Set<unknown>();
  for (const { asked, answeredIds } of messages) {
    for (const call of asked) {
      if (typeof call.id !== 'string' || !ID.test(call.id))
        return `tool call id ${JSON.stringify(call.id)} does not match ${ID}`;
      if (seen.has(call.id)) return `tool call id "${call.id}" is used twice`;
      seen.add(call.id);
      const { arguments: given } = call;
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        return `the arguments of call "${call.id}" are not a JSON object`;
      }
    }
    const ids = asked.map(({ id }) => id);
    if (ids.join('\n') === answeredIds.join('\n')) continue;
    return `calls [${ids.join(', ')}] must be answered once each, in order, right after them; got [${answeredIds.join(', ')}]`;
  }
  return undefined;
}
