/** Ends what a supervisor that is no more has left running, by recorded identity (A2). */
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, signalProcess } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import type { Say } from './running-piece.ts';
import type { PieceRecord } from './stage-record.ts';

const GRACE_MS = 8000;
const LOOK_MS = 50;

export function stillRunning(pieces: readonly PieceRecord[]): PieceRecord[] {
  return pieces.filter((piece) => piece.isOurs && isRunning(piece.process));
}

export async function endRecorded(pieces: readonly PieceRecord[], say: Say): Promise<void> {
  const left = stillRunning(pieces);
  // The server last: it was started first, and the workers talk to it.
  const servers = left.filter(({ name }) => name === 'temporal server');
  for (const group of [left.filter((piece) => !servers.includes(piece)), servers]) {
    await Promise.all(
      group.map(async ({ name, process }) => {
        say(name, `was left running (pid ${process.pid}); ending it`);
        await endProcess(process, GRACE_MS);
      }),
    );
  }
}

/** TERM, patience, KILL; false when it is still there after all that. */
export async function endProcess(process: ProcessIdentity, graceMs: number): Promise<boolean> {
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', 2000],
  ] as const) {
    if (!signalProcess(process, signal)) return true;
    const deadlineMs = performance.now() + waitMs;
    while (isRunning(process) && performance.now() < deadlineMs) await delay(LOOK_MS);
  }
  return !isRunning(process);
}
