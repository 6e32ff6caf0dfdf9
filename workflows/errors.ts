/** Reading what an activity ended with; every text is repaired, since it may leave as a failure's (A1 of the notes). */
import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/workflow';
import { FAILURES, isFailureCode } from '../contract/failures.ts';
import type { FailureCode } from '../contract/failures.ts';
import { FAILURE_CHARACTERS_MAX } from '../contract/limits.ts';
import type { TurnResult } from '../contract/turn.ts';
import { toSafeText } from '../contract/well-formed.ts';

export type TurnError = NonNullable<TurnResult['error']>;

/** Ends the turn with this error; what is open is closed first. */
export class TurnStopped extends Error {
  readonly turnError: TurnError;

  constructor(turnError: TurnError) {
    super(turnError.message);
    this.name = 'TurnStopped';
    this.turnError = turnError;
  }
}

/** An activity's failure hides the real one in its cause. */
function realError(error: unknown): unknown {
  return error instanceof ActivityFailure && error.cause !== undefined ? error.cause : error;
}

export function describeError(error: unknown): string {
  const real = realError(error);
  if (real instanceof TimeoutFailure) return toSafeText(describeTimeout(real), FAILURE_CHARACTERS_MAX);
  if (real instanceof CancelledFailure) return 'it was cancelled';
  return toSafeText(real instanceof Error ? real.message : String(real), FAILURE_CHARACTERS_MAX);
}

function describeTimeout(error: TimeoutFailure): string {
  switch (error.timeoutType) {
    case 'SCHEDULE_TO_START':
      return 'no worker took it in time';
    case 'HEARTBEAT':
      return 'its worker was lost';
    case 'START_TO_CLOSE':
    case 'SCHEDULE_TO_CLOSE':
      return error.cause === undefined ? 'no answer in time' : `no answer in time, last: ${describeError(error.cause)}`;
    case undefined:
      return error.message;
  }
}

export function isScheduleToStartTimeout(error: unknown): boolean {
  const real = realError(error);
  return real instanceof TimeoutFailure && real.timeoutType === 'SCHEDULE_TO_START';
}

/** The stable code that an activity failed with, or `otherwise` for what has none. */
export function turnErrorOf(error: unknown, otherwise: string): TurnError {
  if (error instanceof TurnStopped) return error.turnError;
  const real = realError(error);
  const code = real instanceof ApplicationFailure && isFailureCode(real.type) ? real.type : otherwise;
  return { code, message: describeError(error) };
}

/** The only thing that a workflow of ours throws: an invariant broke, and nobody inside could help. */
export function defectFailure({ code, message }: TurnError): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true });
}

/** What an update is refused with: nothing changed. Its text leaves a payload, so it is repaired (A1 of the notes). */
export function requestFailure(code: FailureCode, message: string, field?: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: toSafeText(`${message}. ${FAILURES[code].nextStep}`, FAILURE_CHARACTERS_MAX),
    nonRetryable: true,
    ...(field === undefined ? {} : { details: [{ field }] }),
  });
}
