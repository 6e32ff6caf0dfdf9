/** A journal row, and its live command where there is one, in the words of the protocol. */
import { constants } from 'node:os';
import type { z } from 'zod';
import type { Handle } from '../../contract/ids.ts';
import type { exitSchema, ProcessState } from '../../contract/wire/envelope.ts';
import type { KeyState } from '../../contract/wire/probe.ts';
import type { CallRow } from '../journal/call-rows.ts';
import { handleOf } from '../journal/call-rows.ts';
import { bootClockMs } from '../process/boot-clock.ts';
import type { VerbContext } from './verb-context.ts';

export type WireExit = z.infer<typeof exitSchema>;

export interface KeyDescription {
  readonly state: KeyState;
  readonly handle?: Handle;
  readonly reservedAgeMs?: number;
  readonly startedAt?: string;
  readonly ageMs?: number;
  readonly exit?: WireExit;
  readonly reason?: string;
}

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

export function exitOf(row: CallRow): WireExit | undefined {
  if (row.state !== 'exited' || row.exitCode === null) return undefined;
  const signal = row.exitCode > 128 ? SIGNAL_NAMES.get(row.exitCode - 128) : undefined;
  return {
    code: row.exitCode,
    ...(signal !== undefined && { signal }),
    ...(row.killedBy !== null && { killedBy: row.killedBy }),
    durationMs: row.durationMs ?? 0,
  };
}

export function keyStateOf(context: VerbContext, row: CallRow): KeyState {
  if (row.state !== 'open') return row.state;
  return context.supervisor.find(row.id)?.started === undefined ? 'pending' : 'running';
}

export function describeKey(context: VerbContext, row: CallRow): KeyDescription {
  const state = keyStateOf(context, row);
  const exit = exitOf(row);
  const reason = row.reason ?? undefined;
  const base = { state, ...(reason !== undefined && { reason }), ...(exit !== undefined && { exit }) };
  if (row.attempt === 0 || state === 'void' || state === 'fenced' || state === 'spawn_failed') return base;
  const { startedAt, ageMs } = startOf(context, row);
  if (state === 'pending') return { ...base, reservedAgeMs: ageMs };
  return { ...base, handle: handleOf(row.id), startedAt, ageMs };
}

/** The original start: wall clock for people, age by the boot clock for budgets (C4). */
export function startOf(context: VerbContext, row: CallRow): { readonly startedAt: string; readonly ageMs: number } {
  const attempt = context.state.calls.requireAttempt(row.id, row.attempt);
  // The boot clock of another boot says nothing about now; then the wall clock is the best there is.
  const ageMs =
    attempt.bootId === context.supervisor.bootId
      ? bootClockMs() - attempt.reservedBootMs
      : Date.now() - Date.parse(attempt.reservedAt);
  return { startedAt: attempt.reservedAt, ageMs: Math.max(0, ageMs) };
}

/** For rows that are a process: open, exited or lost. */
export function processStateOf(context: VerbContext, row: CallRow): ProcessState {
  if (row.state === 'exited' || row.state === 'lost') return row.state;
  return context.supervisor.find(row.id)?.started === undefined ? 'starting' : 'running';
}
