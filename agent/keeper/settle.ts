/**
 * Decides what is true of an attempt, from its files and the process table alone (design §4 "Settle").
 *
 * Called for every open row at start-up, and when a keeper has ended; never while a keeper that we just launched may
 * still claim. No decision depends on a time-out.
 */
import { existsSync } from 'node:fs';
import { isSameProcess } from '../process/identity.ts';
import type { ExitRecord, StartedRecord } from './keeper-files.ts';
import { claimForDaemon, isAliveHeld, readClaim, readExit, readFailed, readStarted } from './keeper-files.ts';

export type Settlement =
  | { readonly kind: 'exited'; readonly exit: ExitRecord }
  | { readonly kind: 'spawn_failed'; readonly stage: string }
  | { readonly kind: 'lost'; readonly reason: string }
  /** Provably never ran and never will. */
  | { readonly kind: 'void' }
  /** The keeper, or its child before the exec, holds the FIFO: wait for that, then settle again. */
  | { readonly kind: 'held'; readonly started: StartedRecord | undefined }
  /** The keeper is gone, the command is not: its exit code will never be known. */
  | { readonly kind: 'orphaned'; readonly started: StartedRecord };

export interface SettleContext {
  readonly folder: string;
  /** The attempt was reserved in this very boot: only then can any of it be alive. */
  readonly isSameBoot: boolean;
  /** Pids of the attempt mean the same processes to us: same boot, same pid namespace. */
  readonly isSameNamespace: boolean;
}

export function settleAttempt(context: SettleContext): Settlement {
  const { folder } = context;
  const decided = findDecided(folder);
  if (decided !== undefined) return decided;
  if (!context.isSameBoot) return { kind: 'lost', reason: 'the machine restarted while the command was open' };

  // Made with the reserve, so somebody deleted it, and a keeper may hold on to what was deleted. Nobody re-runs on doubt (K2).
  if (!existsSync(folder)) return { kind: 'lost', reason: "the command's folder was deleted from the agent's state" };
  const claim = readClaim(folder);
  if (claim.by === 'daemon' || (claim.by === 'nobody' && claimForDaemon(folder) === 'won')) return { kind: 'void' };

  if (isAliveHeld(folder)) {
    const started = readStarted(folder);
    if (started !== undefined && context.isSameNamespace && isEverybodyGone(folder, started)) {
      // A stranger holds the FIFO (an inherited descriptor): identity decides, and the files once more before it.
      return findDecided(folder) ?? { kind: 'lost', reason: 'the keeper and its command are gone' };
    }
    return { kind: 'held', started };
  }

  // The FIFO is free: whoever could still write has written. Read again before any conclusion.
  const late = findDecided(folder);
  if (late !== undefined) return late;
  const started = readStarted(folder);
  if (started === undefined) return { kind: 'void' };
  if (context.isSameNamespace && isSameProcess(started)) return { kind: 'orphaned', started };
  return { kind: 'lost', reason: 'the keeper died before it could write the exit code' };
}

function findDecided(folder: string): Settlement | undefined {
  const exit = readExit(folder);
  if (exit !== undefined) return { kind: 'exited', exit };
  const stage = readFailed(folder);
  return stage === undefined ? undefined : { kind: 'spawn_failed', stage };
}

function isEverybodyGone(folder: string, started: StartedRecord): boolean {
  const claim = readClaim(folder);
  return claim.by === 'keeper' && !isSameProcess(claim) && !isSameProcess(started);
}
