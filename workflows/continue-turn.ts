/** When a turn moves to a run of its own, between two steps, and what it takes along (T3). Pure. */
import type { TurnState, CallRecord } from './turn-state.ts';

/** Ours, for servers that suggest nothing: far below the server's own ends of 51 200 events and 50 MiB. */
export const HISTORY_EVENTS_MAX = 8000;
const HISTORY_BYTES_MAX = 8 * 1024 * 1024;
/** Calls that the `calls` query still tells of after a move; the store has all of them. */
const CALLS_CARRIED_MAX = 100;

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
  readonly isMoveSuggested: boolean;
  /** A turn's own limit; for tests. */
  readonly eventsMax?: number | undefined;
}

/** A step adds at most what its calls may return, which is capped in encoded bytes; so this is early enough. */
export function shouldContinue({ events, bytes, isMoveSuggested, eventsMax }: HistorySize): boolean {
  return isMoveSuggested || events > (eventsMax ?? HISTORY_EVENTS_MAX) || bytes > HISTORY_BYTES_MAX;
}

/** The state without what only an open call needs; every call has its result between two steps (C1). */
export function carriedState(state: TurnState): TurnState {
  const dropped = Math.max(0, state.calls.length - CALLS_CARRIED_MAX);
  return {
    ...state,
    earlierCalls: state.earlierCalls + dropped,
    calls: state.calls.slice(dropped).map(carriedCall),
  };
}

function carriedCall({ step, call, entry }: CallRecord): CallRecord {
  const { request: _request, target: _committedTarget, ...rest } = call;
  const { target: _target, result, ...kept } = entry;
  if (result === undefined) return { step, call: rest, entry: { ...kept, lateTruths: [] } };
  const { code, detail } = result.evidence;
  return {
    step,
    call: rest,
    entry: { ...kept, lateTruths: [], result: { status: result.status, evidence: { code, detail } } },
  };
}
