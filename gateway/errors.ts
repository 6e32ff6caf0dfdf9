/** What a failure becomes on the wire: a stable code, a sentence, what to do about it. */
import { CodedError, FAILURES, findFailureCode, Refusal } from '../contract/failures.ts';
import type { FailureCode } from '../contract/failures.ts';

export interface ErrorReply {
  readonly status: number;
  readonly body: { readonly error: { code: FailureCode; message: string; field?: string; nextStep: string } };
  /** Ours to look at: it is logged with its reason, which may be nobody else's business. */
  readonly isDefect: boolean;
}

/** Codes of the agent's side have no status of their own. */
const STATUS_DEFAULT = 502;
const NEXT_STEPS: Partial<Record<FailureCode, string>> = {
  unauthorized: 'Send a bearer token that this gateway was started with, and that is bound to this chat.',
  unknown_verb: 'See docs/gateway.md for what is served.',
  unknown_process: 'List the calls of this chat.',
  invariant_broken: "Read the gateway's log and report it.",
};

/** Of a gateway without tokens, which has none to be sent. */
const NEXT_STEPS_WITHOUT_TOKENS: Readonly<Record<string, string>> = {
  host: 'Ask for 127.0.0.1 or localhost on its own machine, or start the gateway with LATCHKEY_GATEWAY_TOKENS.',
  origin: "Use the gateway's own page, or ask from a program on its machine: a browser is refused for any other page.",
};

export function toErrorReply(error: unknown): ErrorReply {
  const known = asCodedError(error);
  if (known === undefined) {
    const message = 'the gateway failed; its log says why';
    const { status, nextStep } = entryOf('invariant_broken');
    return { status, body: { error: { code: 'invariant_broken', message, nextStep } }, isDefect: true };
  }
  const { code, message, field } = known;
  const { status, nextStep: usual } = entryOf(code);
  const nextStep = (code === 'unauthorized' ? NEXT_STEPS_WITHOUT_TOKENS[field ?? ''] : undefined) ?? usual;
  return {
    status,
    body: { error: { code, message, ...(field !== undefined && { field }), nextStep } },
    isDefect: FAILURES[code].kind === 'defect',
  };
}

function entryOf(code: FailureCode): { readonly status: number; readonly nextStep: string } {
  const { status, nextStep } = FAILURES[code];
  return { status: status === 0 ? STATUS_DEFAULT : status, nextStep: NEXT_STEPS[code] ?? nextStep };
}

function asCodedError(error: unknown): CodedError | undefined {
  if (error instanceof CodedError) return error;
  const code = findFailureCode(error);
  if (code !== undefined && error instanceof Error) return new CodedError(code, error.message);
  return fromFastify(error) ?? fromTemporal(error);
}

function fromFastify(error: unknown): CodedError | undefined {
  const { code, message, statusCode } = error as { code?: unknown; message?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Refusal('body_too_large', 'the body is too large', 'body');
  if (typeof code !== 'string' || !code.startsWith('FST_') || typeof statusCode !== 'number') return undefined;
  if (code === 'FST_ERR_BAD_URL') return new Refusal('bad_request', 'the path is not percent-encoded UTF-8', 'path');
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new Refusal('bad_request', 'a part of the path is too long', 'path');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new Refusal('bad_request', 'a body needs the header content-type: application/json', 'content-type');
  }
  return statusCode < 500 ? new Refusal('bad_request', String(message), 'body') : undefined;
}

/** The server is away, or no worker answers in time: what was asked may have been taken all the same. */
function fromTemporal(error: unknown): CodedError | undefined {
  const { name } = error as { name?: unknown };
  const isAway = name === 'ServiceError' || name === 'WorkflowUpdateRPCTimeoutOrCancelledError';
  if (!isAway) return undefined;
  return new CodedError(
    'temporal_unreachable',
    'the chat did not answer in time; asking again with the same id changes nothing twice',
  );
}
