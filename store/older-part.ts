/**
 * The older part of long conversations, kept as it was read: rows of turns that have ended. A step of a long conversation
 * spent most of its time on reading them again. Only a hint: rows prove it each time, and without proof all is read.
 *
 * What proves it: nothing is ever rewritten, and a turn ends only when each of its calls has its result (C1), so a
 * conversation up to the end of a turn is one and the same for as long as that end is there (of a store that was rolled
 * back the last writes are gone, or are others at another time) and its last message is seen (an edit hides all that
 * follows what it hides). With a summary none is kept: such a conversation is short.
 */
import type { ChatId } from '../contract/ids.ts';
import type { SaidMessage } from '../contract/messages.ts';
import type { Database } from './database.ts';
import { findMessageRow } from './message-rows.ts';
import { findTurnRow } from './turn-rows.ts';

export interface OlderPart {
  readonly said: readonly SaidMessage[];
  /** Its last message. */
  readonly throughId: number;
  /** The end of that message's turn. */
  readonly end: { readonly turn: number; readonly at: string };
  readonly characters: number;
}

export interface OlderPartsLimits {
  /** Of a conversation of fewer all is read as quickly as a part is proven. */
  readonly messagesMin: number;
  /** Of all chats together: UTF-16 units of text, two bytes each at most. */
  readonly charactersMax: number;
}

const LIMITS: OlderPartsLimits = { messagesMin: 100, charactersMax: 32 * 1024 * 1024 };

export class OlderParts {
  readonly messagesMin: number;
  readonly #charactersMax: number;
  /** The one that was used last comes last. */
  readonly #parts = new Map<ChatId, OlderPart>();
  #characters = 0;

  constructor({ messagesMin, charactersMax }: OlderPartsLimits = LIMITS) {
    this.messagesMin = messagesMin;
    this.#charactersMax = charactersMax;
  }

  async findProven(db: Database, chatId: ChatId): Promise<OlderPart | undefined> {
    const part = this.#parts.get(chatId);
    if (part === undefined) return undefined;
    const isProven = await stands(db, chatId, part);
    if (isProven) this.keep(chatId, part);
    else this.#forget(chatId);
    return isProven ? part : undefined;
  }

  keep(chatId: ChatId, part: OlderPart): void {
    this.#forget(chatId);
    this.#parts.set(chatId, part);
    this.#characters += part.characters;
    for (const oldest of this.#parts.keys()) {
      if (this.#characters <= this.#charactersMax) return;
      this.#forget(oldest);
    }
  }

  #forget(chatId: ChatId): void {
    this.#characters -= this.#parts.get(chatId)?.characters ?? 0;
    this.#parts.delete(chatId);
  }
}

async function stands(db: Database, chatId: ChatId, part: OlderPart): Promise<boolean> {
  const { throughId, end } = part;
  const last = await findMessageRow(db, { chatId, messageId: throughId });
  if (last?.hidden !== 0) return false;
  const turn = await findTurnRow(db, { chatId, turn: end.turn });
  if (turn?.ended_at !== end.at) return false;
  const summary = await db
    .selectFrom('messages')
    .select('id')
    .where('chat_id', '=', chatId)
    .where('id', '>', throughId)
    .where('role', '=', 'summary')
    .limit(1)
    .executeTakeFirst();
  return summary === undefined;
}
