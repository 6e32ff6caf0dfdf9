/**
 * Edits of a user's message: it and all that follows is hidden, never rewritten, and a new epoch begins, which fences
 * what the hidden part may still write. Its new text is answered next.
 */
import type { Selectable, Transaction } from 'kysely';
import type {
  CheckEditResult,
  EditMessageInput,
  EditMessageResult,
  StoppableCall,
} from '../contract/chat-activities.ts';
import { Refusal } from '../contract/failures.ts';
import type { ChatId } from '../contract/ids.ts';
import { requireUserMessage } from '../contract/user-message.ts';
import { changeKnownChat, readFacts, setChat } from './chats.ts';
import type { Database } from './database.ts';
import { findMessageRow } from './message-rows.ts';
import { findQueuedRow } from './queue-rows.ts';
import { insertQueued, requireOpen } from './queue.ts';
import type { ChatRow, Schema } from './schema.ts';
import { MAY_RUN, readStoppable } from './stoppable-calls.ts';
import { appendEvents } from './stream-events.ts';

/** They enter workflow history; more processes than this no chat may have open at an agent. */
const HIDDEN_CALLS_MAX = 200;

export async function checkEdit(db: Database, input: EditMessageInput): Promise<CheckEditResult> {
  requireUserMessage(input);
  return changeKnownChat(db, input.chatId, async (trx, chat) => {
    const isDone = (await findQueuedRow(trx, input)) !== undefined;
    if (!isDone) await requireEditable(trx, chat, input);
    return { ...(await readFacts(trx, chat)), isDone };
  });
}

/** Idempotent by client message id; asked again, it names again what may still run of what it has hidden. */
export async function editMessage(db: Database, input: EditMessageInput): Promise<EditMessageResult> {
  requireUserMessage(input);
  return changeKnownChat(db, input.chatId, async (trx, chat) => {
    const earlier = await findQueuedRow(trx, input);
    if (earlier !== undefined) {
      const epoch = earlier.edit_epoch;
      const hiddenCalls = epoch === null ? [] : await listHiddenCalls(trx, { chatId: input.chatId, epoch });
      return { ...(await readFacts(trx, chat)), isNew: false, hiddenCalls };
    }
    await requireEditable(trx, chat, input);
    if (chat.active_turn !== null) {
      throw new Refusal('chat_busy', `turn ${chat.active_turn} of chat ${input.chatId} is running`);
    }
    return applyEdit(trx, chat, input);
  });
}

async function applyEdit(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  input: EditMessageInput,
): Promise<EditMessageResult> {
  const { chatId, messageId, clientMessageId, text } = input;
  const epoch = chat.epoch + 1;
  await trx
    .updateTable('messages')
    .set({ hidden: epoch })
    .where('chat_id', '=', chatId)
    .where('id', '>=', messageId)
    .where('hidden', '=', 0)
    .execute();
  // A summary that is hidden stands for nothing any more.
  await trx
    .updateTable('messages')
    .set({ summarized_by: null })
    .where('chat_id', '=', chatId)
    .where('summarized_by', '>=', messageId)
    .execute();
  await appendEvents(trx, chatId, [{ type: 'hidden', fromId: messageId, epoch }]);
  const edited = await setChat(trx, chat, { epoch });
  await insertQueued(trx, edited, { chatId, clientMessageId, text, place: 'front', editEpoch: epoch });
  const hiddenCalls = await listHiddenCalls(trx, { chatId, epoch });
  return { ...(await readFacts(trx, edited)), isNew: true, hiddenCalls };
}

async function requireEditable(
  trx: Transaction<Schema>,
  chat: Selectable<ChatRow>,
  { chatId, messageId }: EditMessageInput,
): Promise<void> {
  requireOpen(chat);
  const message = await findMessageRow(trx, { chatId, messageId });
  if (message?.hidden === 0 && message.role === 'user') return;
  const words = message?.hidden === 0 ? 'is not one of a user' : 'is not there';
  throw new Refusal('unknown_message', `message ${messageId} of chat ${chatId} ${words}`, 'messageId');
}

/** Calls whose processes may still run although nobody is shown them; of one edit, or of all. */
export async function listHiddenCalls(
  trx: Transaction<Schema>,
  { chatId, epoch }: { readonly chatId: ChatId; readonly epoch?: number },
): Promise<readonly StoppableCall[]> {
  const rows = await trx
    .selectFrom('calls')
    .innerJoin('messages', (join) =>
      join.onRef('messages.chat_id', '=', 'calls.chat_id').onRef('messages.id', '=', 'calls.message_id'),
    )
    .selectAll('calls')
    .where('calls.chat_id', '=', chatId)
    .where('calls.status', 'in', MAY_RUN)
    .where('calls.target', 'is not', null)
    .where('messages.hidden', epoch === undefined ? '>' : '=', epoch ?? 0)
    .orderBy('calls.message_id')
    .orderBy('calls.position')
    .limit(HIDDEN_CALLS_MAX)
    .execute();
  return rows.flatMap((row) => readStoppable(row) ?? []);
}
