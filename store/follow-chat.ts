/**
 * Follows a chat for one watcher: a snapshot, or the events after the watcher's cursor, and then each event as it
 * comes. The numbers of a chat's events grow in the order of their commits, so a reader that goes by its cursor misses
 * none and sees none twice; where the store can't keep that promise it says so with a reset (S1, H03).
 */
import type { Selectable } from 'kysely';
import { Refusal } from '../contract/failures.ts';
import type { ChatId } from '../contract/ids.ts';
import type { ChatChanges } from './chat-changes.ts';
import { readSnapshot } from './chat-snapshot.ts';
import type { SnapshotScope } from './chat-snapshot.ts';
import { findChatRow } from './chats.ts';
import type { Database } from './database.ts';
import type { ChatRow } from './schema.ts';
import { readEvents } from './stream-events.ts';
import type { StreamEvent, StreamEventBody } from './stream-events.ts';
import { inSnapshot } from './transaction.ts';

/** Why what the watcher has can't be gone on with. */
export type ResetReason =
  /** Its events before some number were dropped. */
  | 'cursor_too_old'
  /** The store's events end before it: the store was rolled back, or the cursor is another store's. */
  | 'cursor_ahead';

export type ChatFrame =
  /** What the watcher has is void; a full snapshot follows. */
  | { readonly type: 'reset'; readonly reason: ResetReason }
  /** Of a snapshot. The first one is the `status`; it replaces whatever the watcher has. */
  | (StreamEventBody & { readonly snapshot: true })
  /** The snapshot is complete: go on from this cursor. */
  | { readonly type: 'live'; readonly seq: number; readonly hasEarlier: boolean }
  | StreamEvent;

export interface FollowInput extends SnapshotScope {
  readonly chatId: ChatId;
  /** The number of the last event that was seen; absent: a snapshot comes first. */
  readonly after?: number;
  /** Ends the following, without an error. */
  readonly signal: AbortSignal;
}

const PAGE = 500;

/** Throws `unknown_chat` at once, and any failure of the store; the watcher may come again with its cursor. */
export async function* followChat(
  { db, changes }: { readonly db: Database; readonly changes: ChatChanges },
  { after, signal, ...snapshot }: FollowInput,
): AsyncGenerator<ChatFrame, void, void> {
  const { chatId } = snapshot;
  let cursor = after;
  if (cursor === undefined) cursor = yield* tellSnapshot(db, snapshot);
  using watch = changes.watch(chatId);
  for (;;) {
    await watch.next(signal);
    for (let isAll = false; !isAll;) {
      if (signal.aborted) return;
      const page = await readAfter(db, chatId, cursor);
      isAll = page.events.length < PAGE && page.reset === undefined;
      for (const event of page.events) {
        yield event;
        cursor = event.seq;
        if (signal.aborted) return;
      }
      if (page.reset === undefined) continue;
      yield { type: 'reset', reason: page.reset };
      cursor = yield* tellSnapshot(db, snapshot);
    }
  }
}

async function* tellSnapshot(
  db: Database,
  input: SnapshotScope & { readonly chatId: ChatId },
): AsyncGenerator<ChatFrame, number, void> {
  const { cursor, events, hasEarlier } = await inSnapshot(db, async (trx) =>
    readSnapshot(trx, await requireKnownChat(trx, input.chatId), input),
  );
  for (const event of events) yield { ...event, snapshot: true };
  yield { type: 'live', seq: cursor, hasEarlier };
  return cursor;
}

async function readAfter(
  db: Database,
  chatId: ChatId,
  after: number,
): Promise<{ readonly events: readonly StreamEvent[]; readonly reset?: ResetReason }> {
  return inSnapshot(db, async (trx): Promise<{ events: readonly StreamEvent[]; reset?: ResetReason }> => {
    const chat = await requireKnownChat(trx, chatId);
    if (after > chat.last_event_seq) return { events: [], reset: 'cursor_ahead' };
    if (after < chat.events_pruned_through) return { events: [], reset: 'cursor_too_old' };
    if (after === chat.last_event_seq) return { events: [] };
    return { events: await readEvents(trx, { chatId, after, limit: PAGE }) };
  });
}

async function requireKnownChat(trx: Database, chatId: ChatId): Promise<Selectable<ChatRow>> {
  const chat = await findChatRow(trx, chatId);
  if (chat === undefined) throw new Refusal('unknown_chat', `there is no chat ${chatId}`, 'chatId');
  return chat;
}
