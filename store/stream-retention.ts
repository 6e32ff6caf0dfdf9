/** How far back a cursor may be: the newest events of each chat are kept, older ones are read as a snapshot. */
import type { Transaction } from 'kysely';
import type { ChatId } from '../contract/ids.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { changeChat } from './transaction.ts';

/** A watcher that was away for a day of work finds its place again; at about a kilobyte each. */
export const EVENTS_KEPT = 10_000;
/** Deleted so many at a time, so that nearly every append pays nothing for it. */
const PRUNE_EVERY = 1_000;

/** Called with the numbers of what was just appended: prunes when they cross a multiple of `PRUNE_EVERY`. */
export async function pruneWhenDue(
  trx: Transaction<Schema>,
  chatId: ChatId,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<void> {
  if (Math.floor(last / PRUNE_EVERY) === Math.floor((first - 1) / PRUNE_EVERY)) return;
  await pruneInTransaction(trx, { chatId, through: last - EVENTS_KEPT });
}

/** Drops all but the newest events of a chat; a cursor before them is answered with a reset from then on (H03). */
export async function pruneEvents(
  db: Database,
  input: { readonly chatId: ChatId; readonly through: number },
): Promise<void> {
  await changeChat(db, input.chatId, (trx) => pruneInTransaction(trx, input));
}

async function pruneInTransaction(
  trx: Transaction<Schema>,
  input: { readonly chatId: ChatId; readonly through: number },
): Promise<void> {
  const { chatId } = input;
  const { last_event_seq: last, events_pruned_through: before } = await trx
    .selectFrom('chats')
    .select(['last_event_seq', 'events_pruned_through'])
    .where('id', '=', chatId)
    .executeTakeFirstOrThrow();
  // Never past the end: no cursor could be served any more.
  const through = Math.min(last, input.through);
  if (through <= before) return;
  await trx.updateTable('chats').set({ events_pruned_through: through }).where('id', '=', chatId).execute();
  await trx
    .deleteFrom('stream_events')
    .where('chat_id', '=', chatId)
    .where('seq', '<=', through)
    // Parts of the running step are its text until it is committed; they go with their step.
    .where('part_of', 'is', null)
    .execute();
}
