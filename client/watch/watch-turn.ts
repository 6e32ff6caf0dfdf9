/** Follows a turn to its end: events in order from the store, pending activities from Temporal. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ChatId } from '../../contract/ids.ts';
import { turnWorkflowId } from '../../contract/names.ts';
import type { TurnEnd } from '../../contract/turn.ts';
import type { Store, StreamEvent } from '../open-store.ts';
import { readPendingActivities } from './pending-activities.ts';
import type { PendingActivity } from './pending-activities.ts';

const EVENTS_MS = 80;
export const PENDING_MS = 400;
const ANSWER_MS_MAX = 2000;
const PAGE = 500;
/** The turn's end is written before its workflow closes; so a closed one without it was terminated, or timed out. */
const END_EVENT_MS_MAX = 3000;

export interface TurnEnding {
  readonly state: TurnEnd;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface TurnAudience {
  event(event: StreamEvent): Promise<void> | void;
  pending(activities: readonly PendingActivity[]): void;
  notice(text: string): void;
}

export interface WatchOptions {
  readonly store: Store;
  readonly chatId: ChatId;
  readonly turn: number;
  readonly audience: TurnAudience;
  readonly signal: AbortSignal;
  /** Left out: only what is stored is told, such as of a turn that has ended. */
  readonly client?: Client;
}

/** Throws the reason of `signal` when the watcher leaves; the turn isn't touched. */
export async function watchTurn(options: WatchOptions): Promise<TurnEnding> {
  const { store, chatId, turn, audience, signal, client } = options;
  const look = client === undefined ? undefined : lookAtWorkflow(client, options);
  let after = 0;
  let isUnderWay = false;
  let pendingAtMs = 0;
  let closedSinceMs: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const events = await store.readEvents({ chatId, after, limit: PAGE });
    for (const event of events) {
      after = event.seq;
      isUnderWay ||= event.type === 'turn' && event.turn === turn;
      if (turnOf(event) !== turn && !(event.type === 'note' && isUnderWay)) continue;
      await audience.event(event);
      if (event.type === 'turn' && event.state !== 'active') {
        return { state: event.state, ...(event.error !== undefined && { error: event.error }) };
      }
    }
    if (events.length === PAGE) continue;
    if (closedSinceMs !== undefined && performance.now() - closedSinceMs > END_EVENT_MS_MAX) return cutOff();
    if (look === undefined && events.length === 0) return cutOff();
    if (look !== undefined && performance.now() - pendingAtMs > PENDING_MS) {
      const isClosed = await look();
      pendingAtMs = performance.now();
      if (isClosed) closedSinceMs ??= performance.now();
    }
    await delay(EVENTS_MS, undefined, { signal }).catch(() => undefined);
  }
}

function cutOff(): TurnEnding {
  const message = "the turn's workflow ended without an end of the turn: it was terminated or timed out";
  return { state: 'failed', error: { code: 'invariant_broken', message } };
}

/** Each look tells the audience what is pending, and returns whether the workflow has closed. */
export function lookAtWorkflow(
  client: Client,
  { chatId, turn, audience }: Pick<WatchOptions, 'chatId' | 'turn' | 'audience'>,
): () => Promise<boolean> {
  const handle = client.workflow.getHandle(turnWorkflowId(chatId, turn));
  let isSilent = false;
  return async () => {
    try {
      const deadline = Date.now() + ANSWER_MS_MAX;
      const description = await client.connection.withDeadline(deadline, () => handle.describe());
      if (isSilent) audience.notice('Temporal answers again');
      isSilent = false;
      audience.pending(readPendingActivities(description));
      return description.status.name !== 'RUNNING' && description.status.name !== 'PAUSED';
    } catch (error) {
      if (error instanceof Error && error.name === 'WorkflowNotFoundError') return true;
      if (!isSilent) audience.notice('Temporal does not answer; what is stored is still shown');
      isSilent = true;
      return false;
    }
  };
}

function turnOf(event: StreamEvent): number | undefined {
  switch (event.type) {
    case 'call':
      return event.call.turn;
    case 'message':
    case 'part':
    case 'withdrawn':
    case 'compaction':
    case 'retry':
    case 'turn':
      return event.turn;
    case 'status':
    case 'chat':
    case 'queued':
    case 'queue':
    case 'hidden':
    // Of a call of any turn; whoever watches the chat now is told.
    case 'note':
    default:
      return undefined;
  }
}
