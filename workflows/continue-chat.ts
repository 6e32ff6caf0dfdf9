/** When a chat moves to a run of its own: between two turns, or in the middle of one before the server's own limits. Pure. */

/** The server ends a run's updates at 2,000. */
const UPDATES_MAX = 500;
const EVENTS_MAX = 4000;
/** So much more is borne before it moves while a turn runs, which it then has to watch instead of being told. */
const PATIENCE = 3;

export interface ChatSize {
  readonly events: number;
  readonly isMoveSuggested: boolean;
  /** Of this run. */
  readonly updates: number;
  /** A chat's own limit; for tests. */
  readonly updatesMax?: number | undefined;
  readonly isAtBorder: boolean;
}

export function shouldMoveChat({ events, isMoveSuggested, updates, updatesMax, isAtBorder }: ChatSize): boolean {
  const patience = isAtBorder ? 1 : PATIENCE;
  if (isMoveSuggested || events >= EVENTS_MAX * patience) return true;
  return updates >= (updatesMax ?? UPDATES_MAX) * patience;
}
