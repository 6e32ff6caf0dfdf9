/** `/edit`: another text for one of the user's messages; what followed it is hidden, and its processes are stopped. */
import { randomUUID } from 'node:crypto';
import { CodedError } from '../../contract/failures.ts';
import type { MessageId } from '../../contract/ids.ts';
import type { CommandContext } from './command-context.ts';
import { requireThere } from './open-session.ts';
import { firstWords } from './queue-command.ts';

const MESSAGES_LISTED = 9;

interface UserMessage {
  readonly id: MessageId;
  readonly text: string;
}

export async function edit(context: CommandContext, words: string): Promise<void> {
  const { session, say, offer } = context;
  requireThere(session);
  const [, place, text = ''] = /^(\d+)?\s*([^]*)$/.exec(words) ?? [];
  const messages = await listUserMessages(context);
  const message = requireMessage(messages, place === undefined ? messages.length : Number(place));
  const take = async (changed: string): Promise<void> => {
    const { id: messageId } = message;
    const { stopping } = await session.chats.edit(session.chatId, {
      messageId,
      clientMessageId: randomUUID(),
      text: changed,
    });
    if (stopping.length > 0) say(`being stopped: ${stopping.join(', ')}`);
  };
  if (text !== '') return take(text);
  say('edit the message and press Enter; Ctrl-C leaves it as it is');
  offer(message.text, take);
}

async function listUserMessages({ session }: CommandContext): Promise<UserMessage[]> {
  const messages = await session.stage.store.loadConversation(session.chatId);
  return messages.flatMap((message) => (message.role === 'user' ? [{ id: message.id, text: message.text }] : []));
}

function requireMessage(messages: readonly UserMessage[], place: number): UserMessage {
  const message = messages[place - 1];
  if (message !== undefined) return message;
  if (messages.length === 0) throw new CodedError('configuration', 'no message of yours was taken by a turn yet');
  const last = messages.slice(-MESSAGES_LISTED);
  const first = messages.length - last.length + 1;
  const lines = last.map(({ text }, index) => `\n  ${first + index}  ${firstWords(text)}`);
  throw new CodedError('configuration', `there is no message ${place} of yours; the last are:${lines.join('')}`);
}
