import type { Seen } from '../seen.ts';

/** T1, T2: no turn is left running, nothing waits, and the entity says the same. */
export function nothingOpen({ activeTurn, view }: Seen): string[] {
  return [
    ...(activeTurn === undefined ? [] : [`turn ${activeTurn} is still active`]),
    ...(view?.state === 'idle' ? [] : [`the chat says that it is ${view?.state}`]),
    ...((view?.queue.length ?? 0) === 0 ? [] : [`the chat says that ${view?.queue.join(', ')} wait`]),
  ];
}
