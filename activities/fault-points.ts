/**
 * The named points at which a worker can be made to die, for the fault tests. Each line says what a death there can
 * break. The agent has points of its own.
 */
export const FAULT_POINTS = {
  /** The command has ended and the agent has said so; Temporal has not: the end must be asked for again (K1). */
  'execute-before-report': true,
  /** The model has answered and nothing is stored: the next attempt asks it anew, and nothing was dispatched. */
  'generate-before-commit': true,
  /** Message and calls are stored, the workflow has not heard: what is stored must win, and no model is asked (F10). */
  'generate-after-commit': true,
  /** The turn's end is stored, the workflow has not heard: others must still be told of it. */
  'end-before-report': true,
  /** The agent has sent a signal and Temporal has not heard: the next attempt must not send it again (I07). */
  'signal-before-report': true,
} as const;

export type FaultPoint = keyof typeof FAULT_POINTS;

/** Tests name a point; unset in real use. */
const ARMED = process.env['LATCHKEY_FAULT_AT'];

export function faultPoint(point: FaultPoint): void {
  if (ARMED === point) process.kill(process.pid, 'SIGKILL');
}
