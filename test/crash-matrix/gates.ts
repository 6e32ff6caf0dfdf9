/** Keepers that stand at a point until they are let go, killed or forgotten. */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../fixtures/wait-until.ts';
import type { Lane } from './lane.ts';
import { killByPid } from './lane-processes.ts';
import type { MatrixKey } from './matrix-key.ts';

const DEADLINE_MS = 60_000;

/** Before the start of a key whose plan is to stand. */
export function makeGate(lane: Lane, key: MatrixKey): void {
  spawnSync('mkfifo', [join(lane.gates, String(key.number))]);
}

/** Whether somebody of the key's keeper has come to the point of its plan. */
export function hasReached(lane: Lane, key: MatrixKey): boolean {
  const path = join(lane.gates, `${key.number}.reached`);
  return existsSync(path) && readFileSync(path, 'utf8').endsWith(' .\n');
}

/** Whether who was to die there went on nevertheless: then the matrix is broken and proves nothing. */
function hasSurvived(lane: Lane, key: MatrixKey): boolean {
  return existsSync(join(lane.gates, `${key.number}.survived`));
}

export async function allReached(lane: Lane, keys: readonly MatrixKey[]): Promise<void> {
  await waitUntil('all keepers have come to their points', () => keys.every((key) => hasReached(lane, key)), {
    deadlineMs: DEADLINE_MS,
    describe: () => ({
      missing: keys.filter((key) => !hasReached(lane, key)).map((key) => `${key.key} ${key.plan?.point}`),
      log: lane.log,
    }),
  });
}

/**
 * Until whoever was to die at the key's point is dead. The key's own end doesn't prove it: a reader comes to its points
 * after the exit that decides the key.
 */
export async function hasDied(lane: Lane, key: MatrixKey): Promise<void> {
  await waitUntil(
    `${key.who} of ${key.key} has died at ${key.where}`,
    () => {
      if (hasSurvived(lane, key)) throw new Error(`${key.key}: ${key.who} was to die at ${key.where}, and lives`);
      return hasReached(lane, key) && victims(lane, key).every((pid) => !isRunning(pid));
    },
    { deadlineMs: DEADLINE_MS, describe: () => ({ reached: hasReached(lane, key), log: lane.log }) },
  );
}

/** Of the two at the point, those whom the plan kills. */
function victims(lane: Lane, key: MatrixKey): readonly number[] {
  const { self, keeper } = standingPids(lane, key);
  switch (key.plan?.action) {
    case 'keeper':
      return [keeper];
    case 'both':
      return [self, keeper];
    case 'self':
    case 'torn':
      return [self];
    case 'stand':
    case undefined:
      return [];
  }
}

/** The shell that stands there, and its keeper: the same one except in the child and in the reader. */
export function standingPids(lane: Lane, key: MatrixKey): { readonly self: number; readonly keeper: number } {
  const [self, keeper] = readFileSync(join(lane.gates, `${key.number}.reached`), 'utf8')
    .split(' ')
    .map(Number);
  if (self === undefined || keeper === undefined) throw new Error(`nobody stands at the gate of ${key.key}`);
  return { self, keeper };
}

/** Lets the key's keeper go on; nothing when nobody stands there any more. */
export async function openGate(lane: Lane, key: MatrixKey): Promise<void> {
  const isAlive = (): boolean => isRunning(standingPids(lane, key).self);
  const fd = await waitUntil('the gate has somebody behind it, or nobody ever', () => {
    try {
      return openSync(join(lane.gates, String(key.number)), constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      // Nobody reads: on the way to the gate still, or dead.
      return isAlive() ? undefined : -1;
    }
  });
  if (fd === -1) return;
  writeSync(fd, '\n');
  closeSync(fd);
}

export async function keepersLeft(lane: Lane, keys: readonly MatrixKey[]): Promise<void> {
  const standing = keys.map((key) => standingPids(lane, key).keeper);
  await waitUntil('the keepers have left', () => standing.every((pid) => !isRunning(pid)), { deadlineMs: DEADLINE_MS });
}

export function killKeeper(lane: Lane, key: MatrixKey): boolean {
  return killRunning(standingPids(lane, key).keeper);
}

export function killStanding(lane: Lane, key: MatrixKey): boolean {
  return killRunning(standingPids(lane, key).self);
}

/** False when it had ended by itself. */
function killRunning(pid: number): boolean {
  return isRunning(pid) && killByPid(pid);
}

/** A zombie has ended; it waits for a parent that may be dead itself. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^\) [ZX]/.test(stat.slice(stat.lastIndexOf(')')));
  } catch {
    return false;
  }
}
