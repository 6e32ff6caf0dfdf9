/** `/queue`: what waits, by its place. */
import { CodedError } from '../../contract/failures.ts';
import { plainLine } from '../watch/plain-text.ts';
import type { CommandContext } from './command-context.ts';
import type { WaitingMessage } from './chat-mirror.ts';

export async function queue(context: CommandContext, words: string): Promise<void> {
  const [verb, place, ...rest] = words.split(/\s+/);
  const { session, mirror, say } = context;
  const { chats, chatId } = session;
  if (verb === '' || verb === undefined) return list(mirror.waiting, say);
  if ((verb !== 'delete' && verb !== 'promote') || rest.length > 0) {
    throw new CodedError('configuration', '/queue, /queue delete N, or /queue promote N');
  }
  const { clientMessageId, text } = requirePlace(mirror.waiting, place);
  if (verb === 'delete') await chats.deleteQueued(chatId, { clientMessageId });
  else await chats.promoteQueued(chatId, { clientMessageId });
  say(`${verb === 'delete' ? 'taken back' : 'answered next'}: ${firstWords(text)}`);
}

function list(waiting: readonly WaitingMessage[], say: (line: string) => void): void {
  if (waiting.length === 0) return say('nothing waits');
  for (const [index, { text }] of waiting.entries()) say(`  ${index + 1}  ${firstWords(text)}`);
}

function requirePlace(waiting: readonly WaitingMessage[], place: string | undefined): WaitingMessage {
  const message = /^[1-9]\d*$/.test(place ?? '') ? waiting[Number(place) - 1] : undefined;
  if (message !== undefined) return message;
  throw new CodedError(
    'configuration',
    `${waiting.length} wait; "${place ?? ''}" is none of their places: /queue lists them`,
  );
}

const WORDS_CHARACTERS = 70;

export function firstWords(text: string): string {
  const line = plainLine(text);
  return line.length <= WORDS_CHARACTERS ? line : `${line.slice(0, WORDS_CHARACTERS - 1).toWellFormed()}…`;
}
