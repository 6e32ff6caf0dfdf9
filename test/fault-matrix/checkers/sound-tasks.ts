import type { Evidence } from '../evidence.ts';

/** No workflow task failed: replay is deterministic, nothing is too large or malformed. */
export function soundTasks({ history }: Evidence): string[] {
  return history.failedTasks.filter((cause) => !isHarmless(cause)).map((cause) => `a workflow task failed: ${cause}`);
}

/** By the protocol's numbers: what the server itself gives up, to have it done again or because somebody ended it all. */
const HARMLESS: Readonly<Record<number, string>> = {
  1: 'something new came in while the task ran (unhandled command)',
  13: "the sticky queue's worker is gone",
  17: 'the workflow was terminated while the task ran (force close)',
  18: 'the server was restarted (failover close)',
  20: 'the workflow was reset',
};

function isHarmless(cause: string): boolean {
  return Object.keys(HARMLESS).some((number) => cause.startsWith(`cause ${number}:`));
}
