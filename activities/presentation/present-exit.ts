import type { Exit } from '../../contract/calls.ts';

/**
 * How a command ended, in words, such as `exit 0 after 1.2 s`. Tells a kill of ours from one that came from elsewhere
 * (R3); a code of 128 + n that nobody here caused is called what it is: a signal, or just that code.
 */
export function presentExit(exit: Exit, timeoutSeconds: number | undefined): string {
  const after = `after ${presentDuration(exit.durationMs)}`;
  const how = exit.signal === undefined ? `exit ${exit.code}` : `exit ${exit.code}, ${exit.signal}`;
  switch (exit.killedBy) {
    case 'kill_after': {
      const budget = timeoutSeconds === undefined ? 'its time limit' : `its time limit of ${timeoutSeconds} s`;
      return `timed out: killed by the agent at ${budget}, as on_timeout "kill" asks (${how}) ${after}`;
    }
    case 'cancel':
      return `canceled: stopped on request (${how}) ${after}`;
    case 'signal':
      return `ended by a signal that this chat sent (${how}) ${after}`;
    case undefined:
    default:
      if (exit.signal === undefined) return `exit ${exit.code} ${after}`;
      return `exit ${exit.code} ${after}: died of ${exit.signal}, which Latchkey did not send, or ended with that code itself`;
  }
}

/** `12 ms`, `0.3 s`, `59.9 s`, `2 min 5 s`, `1 h 0 min`. */
export function presentDuration(durationMs: number): string {
  if (durationMs < 100) return `${Math.round(durationMs)} ms`;
  const tenths = Math.round(durationMs / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
