import { Pool } from 'undici';
import type { z } from 'zod';
import { AGENT_WAIT_MS_MAX, OUTPUT_ANSWER_BYTES_MAX } from '../contract/limits.ts';
import type { Target } from '../contract/target.ts';
import { cancelAnswerSchema } from '../contract/wire/cancel.ts';
import type { CancelAnswer, CancelRequest } from '../contract/wire/cancel.ts';
import { PROTOCOL_VERSION } from '../contract/wire/envelope.ts';
import { infoAnswerSchema } from '../contract/wire/info.ts';
import type { InfoAnswer, InfoRequest } from '../contract/wire/info.ts';
import { listAnswerSchema } from '../contract/wire/list.ts';
import type { ListAnswer, ListRequest } from '../contract/wire/list.ts';
import { outputAnswerSchema } from '../contract/wire/output.ts';
import type { OutputAnswer, OutputRequest } from '../contract/wire/output.ts';
import { probeAnswerSchema } from '../contract/wire/probe.ts';
import type { ProbeAnswer, ProbeRequest } from '../contract/wire/probe.ts';
import { startAnswerSchema } from '../contract/wire/start.ts';
import type { StartAnswer, StartRequest } from '../contract/wire/start.ts';
import { parseAgentAddress } from './agent-address.ts';
import { AgentUnreachable } from './agent-errors.ts';
import { signalAnswerSchema } from '../contract/wire/signal.ts';
import type { SignalAnswer, SignalRequest } from '../contract/wire/signal.ts';
import { readAnswer } from './read-answer.ts';

/** Past the wait that was asked for, an answer may be so late; then the try has failed. */
const ANSWER_MARGIN_MS = 5_000;
/** The agent holds the answer about an ended command until its output is complete, up to 30 s past the wait. */
const OUTPUT_SETTLE_MS_MAX = 30_000;
/** Head and tail may each be a full answer, in base64, plus the fields around them. */
const ANSWER_BYTES_MAX = 3 * OUTPUT_ANSWER_BYTES_MAX;

export interface RequestOptions {
  /** Ends the request; its reason is what is thrown. The command isn't touched (C6). */
  readonly signal?: AbortSignal;
}

type Asked<Request> = Omit<Request, 'protocol'>;
type Verb<Request, Answer> = (request: Asked<Request>, options?: RequestOptions) => Promise<Answer>;

/** One function per verb. Each throws `AgentError`, `AgentUnreachable`, or the reason of its signal. */
export interface AgentClient {
  readonly start: Verb<StartRequest, StartAnswer>;
  readonly probe: Verb<ProbeRequest, ProbeAnswer>;
  readonly output: Verb<OutputRequest, OutputAnswer>;
  readonly cancel: Verb<CancelRequest, CancelAnswer>;
  readonly signal: Verb<SignalRequest, SignalAnswer>;
  readonly list: Verb<ListRequest, ListAnswer>;
  readonly info: Verb<InfoRequest, InfoAnswer>;
  close(): Promise<void>;
}

export interface AgentClientOptions {
  /** `unix:/path` or `http://host:port`. */
  readonly address: string;
  readonly token?: string;
  readonly answerMarginMs?: number;
}

export function createAgentClient(options: AgentClientOptions): AgentClient {
  const marginMs = options.answerMarginMs ?? ANSWER_MARGIN_MS;
  const { origin, socketPath } = parseAgentAddress(options.address);
  const pool = new Pool(origin, {
    ...(socketPath === undefined ? {} : { socketPath }),
    connect: { timeout: marginMs },
    pipelining: 1,
    allowH2: false,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  const headers = {
    'content-type': 'application/json',
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
  };

  function verb<Request extends object, Answer extends Target>(
    name: string,
    schema: z.ZodType<Answer>,
    settleMs = 0,
  ): Verb<Request, Answer> {
    return async (request, { signal } = {}) => {
      const fields = request as { target?: Target; waitMs?: number };
      const limitMs = Math.min(fields.waitMs ?? 0, AGENT_WAIT_MS_MAX) + settleMs + marginMs;
      const body = JSON.stringify({ protocol: PROTOCOL_VERSION, ...request });
      const http = await post(pool, { path: `/v1/${name}`, headers, body, limitMs, signal, address: options.address });
      return readAnswer(http, schema, fields.target);
    };
  }

  return {
    start: verb<StartRequest, StartAnswer>('start', startAnswerSchema),
    probe: verb<ProbeRequest, ProbeAnswer>('probe', probeAnswerSchema),
    output: verb<OutputRequest, OutputAnswer>('output', outputAnswerSchema, OUTPUT_SETTLE_MS_MAX),
    cancel: verb<CancelRequest, CancelAnswer>('cancel', cancelAnswerSchema),
    signal: verb<SignalRequest, SignalAnswer>('signal', signalAnswerSchema),
    list: verb<ListRequest, ListAnswer>('list', listAnswerSchema),
    info: verb<InfoRequest, InfoAnswer>('info', infoAnswerSchema),
    close: () => pool.destroy(),
  };
}

interface Post {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly address: string;
}

/** One request, sent once. A broken connection is never tried again here: whoever asks knows what a retry means. */
async function post(pool: Pool, { path, headers, body, limitMs, signal, address }: Post) {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, limitMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const answer = await pool.request({
      method: 'POST',
      path,
      headers,
      body,
      signal: ending.signal,
      headersTimeout: limitMs,
      bodyTimeout: limitMs,
    });
    return { status: answer.statusCode, body: await answer.body.text() };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = ending.signal.aborted ? `no answer within ${limitMs} ms` : describe(error);
    throw new AgentUnreachable(`agent at ${address}: ${reason}`, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  if (code === 'ENOENT') return 'there is no such socket';
  if (code === 'ECONNREFUSED') return 'nobody listens there';
  return error.message;
}
