/** What an update of a chat failed with, as one of our coded errors. By names and codes: classes may come from another copy. */
import { CodedError, FAILURES, isFailureCode, Refusal } from '../contract/failures.ts';
import type { FailureCode } from '../contract/failures.ts';
import type { ChatId } from '../contract/ids.ts';

/** What the server says of an update that met the end of its workflow, by the place where they met. */
const CLOSING = ['AcceptedUpdateCompletedWorkflow', 'UnprocessedUpdate'];

/** The workflow closed before it had attended to the update, which may be asked again: another run will. */
export function isClosing(error: unknown): boolean {
  const type = findFailure(error)?.type;
  if (typeof type === 'string' && CLOSING.includes(type)) return true;
  return nameOf(error) === 'WorkflowNotFoundError' || /workflow execution already completed/i.test(textOf(error));
}

export function readChatError(error: unknown, chatId: ChatId): unknown {
  if (error instanceof CodedError) return error;
  const failure = findFailure(error);
  if (failure !== undefined && isFailureCode(failure.type)) {
    return new Refusal(failure.type, withoutNextStep(failure.type, failure.message), failure.field);
  }
  if (nameOf(error) === 'WorkflowNotFoundError') {
    return new Refusal('unknown_chat', `chat ${chatId} has no workflow: nothing was sent to it yet`, 'chatId');
  }
  return error;
}

/**
 * Workflows and activities end their messages with the code's next step, for whoever reads them in the Temporal UI. It is
 * told again where failures are written, by the code.
 */
export function withoutNextStep(code: FailureCode, message: string): string {
  return message.replaceAll(` ${FAILURES[code].nextStep}`, '').trimEnd();
}

interface Failure {
  readonly type: unknown;
  readonly message: string;
  readonly field: string | undefined;
}

/** The failure that an update's handler or validator threw. */
function findFailure(error: unknown): Failure | undefined {
  if (nameOf(error) !== 'WorkflowUpdateFailedError') return undefined;
  const cause = (error as { cause?: { type?: unknown; message?: unknown; details?: readonly unknown[] } }).cause;
  if (cause === undefined) return undefined;
  const [detail] = cause.details ?? [];
  const field = (detail as { field?: unknown } | undefined)?.field;
  return { type: cause.type, message: String(cause.message), field: typeof field === 'string' ? field : undefined };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
