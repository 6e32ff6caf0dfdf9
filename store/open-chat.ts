/** What a chat's workflow begins with: the chat's rows, which win over what it was started with. */
import type { OpenChatInput, OpenChatResult } from '../contract/chat-activities.ts';
import { Refusal } from '../contract/failures.ts';
import { ensureChat, readFacts } from './chats.ts';
import type { Database } from './database.ts';
import { listHiddenCalls } from './edits.ts';
import { changeChat } from './transaction.ts';

/** Makes the chat where it isn't there and may be made. Refusal: `unknown_chat`. */
export async function openChat(db: Database, { chatId, create }: OpenChatInput): Promise<OpenChatResult> {
  return changeChat(db, chatId, async (trx, found) => {
    const row = found ?? (create === undefined ? undefined : await ensureChat(trx, { chatId, ...create }));
    if (row === undefined) throw new Refusal('unknown_chat', `the store has no chat ${chatId}`, 'chatId');
    const model = row.model ?? create?.model ?? null;
    // Made before chats had a model.
    if (model !== row.model) await trx.updateTable('chats').set({ model }).where('id', '=', chatId).execute();
    const hiddenCalls = await listHiddenCalls(trx, { chatId });
    return { ...(await readFacts(trx, { ...row, model })), hiddenCalls };
  });
}
