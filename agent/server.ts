/**
 * The agent's HTTP face: POST /v1/<verb>, JSON bodies, one answer each. Keys, ids and text are in the body, never in a
 * path. Unknown fields and versions are refused, so that nobody can ignore a key (A13).
 */
import { timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { FailureCode } from '../contract/failures.ts';
import { CodedError, FAILURES, findFailureCode } from '../contract/failures.ts';
import type { ChatId } from '../contract/ids.ts';
import { AGENT_BODY_BYTES_MAX } from '../contract/limits.ts';
import { PROTOCOL_VERSION } from '../contract/wire/envelope.ts';
import type { ErrorAnswer } from '../contract/wire/envelope.ts';
import { VERBS } from './verbs/verbs.ts';
import type { VerbContext } from './verbs/verb-context.ts';

export interface ServerOptions {
  readonly context: Omit<VerbContext, 'signal'>;
  /** Required on TCP; a unix socket is guarded by its mode. */
  readonly token: string | undefined;
  readonly closing: AbortSignal;
  readonly onDefect: (error: unknown, context: Record<string, unknown>) => void;
}

export function createAgentServer(options: ServerOptions): Server {
  const server = createServer((request, response) => {
    void handle(options, request, response);
  });
  // A waiting answer may take a minute; idle connections are kept, so that a chain of calls doesn't dial again.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 65_000;
  return server;
}

async function handle(options: ServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  let chatId: ChatId | undefined;
  try {
    requireToken(options.token, request);
    const verb = VERBS.get(request.method === 'POST' ? (request.url ?? '') : '');
    if (verb === undefined) {
      throw new CodedError('unknown_verb', `POST one of ${[...VERBS.keys()].join(', ')}`);
    }
    const body = parseBody(verb.schema, await readBody(request));
    if ('chatId' in body) chatId = body.chatId as ChatId | undefined;
    const signal = AbortSignal.any([gone.signal, options.closing]);
    const answer = await verb.run({ ...options.context, signal }, body);
    send(response, 200, { ...envelope(options), ...answer });
  } catch (error) {
    sendError(options, response, { error, chatId, url: request.url });
  }
}

function envelope(options: ServerOptions) {
  return { protocol: PROTOCOL_VERSION, ...options.context.state.target } as const;
}

function sendError(
  options: ServerOptions,
  response: ServerResponse,
  failed: { readonly error: unknown; readonly chatId: ChatId | undefined; readonly url: string | undefined },
): void {
  const { error, chatId } = failed;
  const code: FailureCode = findFailureCode(error) ?? 'agent_defect';
  if (code === 'agent_defect') options.onDefect(error, { url: failed.url });
  const message = error instanceof CodedError ? error.message : 'the agent failed to answer; its log says why';
  const field = error instanceof CodedError ? error.field : undefined;
  const { status } = FAILURES[code];
  const answer: ErrorAnswer = {
    ...envelope(options),
    error: {
      code,
      message: message.toWellFormed(),
      ...(field !== undefined && { field }),
      ...(status === 409 &&
        chatId !== undefined && { chatHighestMessageId: options.context.state.calls.chat(chatId).highestMessageId }),
    },
  };
  send(response, status === 0 ? 500 : status, answer);
}

function send(response: ServerResponse, status: number, answer: object): void {
  if (response.destroyed) return;
  const text = Buffer.from(JSON.stringify(answer));
  // A request that was not read to its end can't be followed by another on the same connection.
  if (!response.req.complete) response.shouldKeepAlive = false;
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length });
  response.end(text);
}

function requireToken(token: string | undefined, request: IncomingMessage): void {
  if (token === undefined) return;
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new CodedError('unauthorized', 'this agent wants a bearer token', 'authorization');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Not destroyed on the way out: the refusal still has to be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > AGENT_BODY_BYTES_MAX) {
      throw new CodedError('body_too_large', `a request has at most ${AGENT_BODY_BYTES_MAX} bytes`, 'body');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody<Body>(schema: z.ZodType<Body>, text: string): Body & object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CodedError('bad_request', 'the body is not JSON', 'body');
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data as Body & object;
  const issue = result.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const field = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].join('.') || 'body';
  throw new CodedError('bad_request', `${field}: ${issue?.message ?? 'is not valid'}`, field);
}
