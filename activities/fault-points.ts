/**
 * The named points at which a worker can be made to die, for the fault tests. Each line says what a death there can
 * break. The agent has points of its own.
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';

/** In the execute worker. */
const EXECUTE_POINTS = {
  /** An attempt has begun and its agent has not been asked: nothing may be taken for a run. */
  'execute-before-start': true,
  /** The agent has started the command; neither a beat nor a result has told so (E02). */
  'execute-after-start': true,
  /** The command has ended and the agent has said so; Temporal has not: the end must be asked for again (K1). */
  'execute-before-report': true,
  /** The agent has said where calls go, and nobody has heard it. */
  'describe-before-report': true,
  /** A kill or a fence was wanted and has not been sent. */
  'cancel-before-send': true,
  /** The key is killed or fenced, and Temporal has not heard: asked again, the answer must be the same (B03). */
  'cancel-before-report': true,
  /** The agent has sent a signal and Temporal has not heard: the next attempt must not send it again (I07). */
  'signal-before-report': true,
} as const;

/** In the turn worker. */
const TURN_POINTS = {
  /** The turn is the chat's running one, its workflow doesn't know: taken again, it must still be its own (T1). */
  'take-before-report': true,
  /** An attempt holds the step and has asked nobody: the next one takes it over (I09). */
  'generate-begun': true,
  /** The model has answered and nothing is stored: the next attempt asks it anew, and nothing was dispatched. */
  'generate-before-commit': true,
  /** Message and calls are stored, the workflow has not heard: what is stored must win, and no model is asked (F10). */
  'generate-after-commit': true,
  /** Rows hold their target, the workflow has not heard: what the row holds wins (K5). */
  'targets-before-report': true,
  /** A call has ended, its row doesn't say so (C2). */
  'result-before-record': true,
  /** The row has its one result, the workflow has not heard: it must not change by the repeat (C3). */
  'result-after-record': true,
  /** The row says that the call's end was asked for, the workflow has not heard. */
  'cancel-request-recorded': true,
  /** A step was to be closed against late commits, and is still open. */
  'close-before-store': true,
  /** It is closed, the workflow has not heard: the open calls must be handed back again. */
  'close-after-store': true,
  /** A settle has the truth, the row has not. */
  'truth-before-record': true,
  /** The row has it, the settle has not heard: the note to the model must not double (C3). */
  'truth-after-record': true,
  /** A stray turn's steps are closed, the sweep has not heard which calls are open. */
  'stray-closed': true,
  /** All is done, and the turn still counts as running. */
  'end-before-store': true,
  /** The chat is free, the workflow has not heard: the turn must not end twice (T1), others must still be told of it. */
  'end-before-report': true,
} as const;

/** In the turn worker, where a conversation is too long: no turn of the fault matrix gets there. */
const COMPACTION_POINTS = {
  /** The summary is written and not stored: the next attempt asks for it anew, and there is one. */
  'compact-before-commit': true,
} as const;

export const FAULT_POINTS = { ...EXECUTE_POINTS, ...TURN_POINTS } as const;

export type FaultPoint = keyof typeof FAULT_POINTS | keyof typeof COMPACTION_POINTS;

/** Tests name a point; unset in real use. */
const ARMED = process.env['LATCHKEY_FAULT_AT'];
/** The same in a folder with a file a point, looked at at each passing. The first to take the file away dies of it. */
const ARMED_FOLDER = process.env['LATCHKEY_FAULT_FOLDER'];

export function faultPoint(point: FaultPoint): void {
  if (ARMED === point || (ARMED_FOLDER !== undefined && isTaken(join(ARMED_FOLDER, point)))) {
    process.kill(process.pid, 'SIGKILL');
  }
}

function isTaken(path: string): boolean {
  try {
    renameSync(path, `${path}.${process.pid}`);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
