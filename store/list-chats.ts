/** Chats for people: newest first, page by page, all of them or those in which a text was said. */
import { sql } from 'kysely';
import type { Expression, Selectable, SqlBool } from 'kysely';
import { Refusal } from '../contract/failures.ts';
import type { AgentId, ChatId } from '../contract/ids.ts';
import { CHAT_PAGE_CHATS_COUNT_MAX, SEARCH_CHARACTERS_MAX } from '../contract/limits.ts';
import type { Database } from './database.ts';
import type { ChatRow } from './schema.ts';
import { toStoredText } from './stored-text.ts';
import type { TurnError } from './stream-events.ts';

export interface ListChatsInput {
  /** `next` of the page before; left out for the first one. */
  readonly after?: string;
  readonly limit: number;
  /** A text as it stands (nothing in it is a pattern), in any case: of the title, or of what was said. */
  readonly query?: string;
  readonly includeArchived?: boolean;
}

export interface ListedChat {
  readonly chatId: ChatId;
  readonly title?: string;
  readonly agentId: AgentId;
  readonly model?: string;
  readonly activeTurn?: number;
  readonly lastError?: TurnError;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly archivedAt?: string;
}

export interface ChatPage {
  readonly chats: readonly ListedChat[];
  /** The cursor of the next page; absent on the last one. */
  readonly next?: string;
}

/**
 * By the time of what was said last. While chats change nobody who pages is shown one twice, and none is missed that
 * stays as it is; one that changes moves to the front, where the next listing begins.
 */
export async function listChats(db: Database, input: ListChatsInput): Promise<ChatPage> {
  requireLimit(input.limit, CHAT_PAGE_CHATS_COUNT_MAX);
  const query = searchedText(input.query);
  let rows = db.selectFrom('chats').selectAll();
  if (input.includeArchived !== true) rows = rows.where('archived_at', 'is', null);
  if (query !== undefined) rows = rows.where(() => isSaidIn(query));
  if (input.after !== undefined) {
    const { updatedAt, chatId } = parseCursor(input.after);
    rows = rows.where(({ eb, and, or }) =>
      or([eb('updated_at', '<', updatedAt), and([eb('updated_at', '=', updatedAt), eb('id', '<', chatId)])]),
    );
  }
  const found = await rows
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(input.limit + 1)
    .execute();
  const page = found.slice(0, input.limit);
  const last = page.at(-1);
  const hasMore = found.length > page.length && last !== undefined;
  return { chats: page.map(readListedChat), ...(hasMore ? { next: cursorAfter(last) } : {}) };
}

function readListedChat(row: Selectable<ChatRow>): ListedChat {
  return {
    chatId: row.id as ChatId,
    agentId: row.agent_id as AgentId,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.active_turn === null ? {} : { activeTurn: row.active_turn }),
    ...(row.last_error_code === null
      ? {}
      : { lastError: { code: row.last_error_code, message: row.last_error_message ?? '' } }),
    ...(row.archived_at === null ? {} : { archivedAt: row.archived_at }),
  };
}

/** Summaries stand for what was said and repeat it; what an edit hid is gone for people. */
function isSaidIn(text: string): Expression<SqlBool> {
  const pattern = `%${text.replace(/[!%_]/g, '!$&')}%`;
  return sql<SqlBool>`(lower(chats.title) like lower(${pattern}) escape '!' or exists (
    select 1 from messages where messages.chat_id = chats.id and messages.hidden = 0
      and messages.role in ('user', 'assistant') and lower(messages.text) like lower(${pattern}) escape '!'))`;
}

function searchedText(query: string | undefined): string | undefined {
  if (query === undefined || query === '') return undefined;
  if (query.length <= SEARCH_CHARACTERS_MAX) return toStoredText(query);
  throw new Refusal('bad_request', `a text to search for has at most ${SEARCH_CHARACTERS_MAX} characters`, 'query');
}

export function requireLimit(limit: number, limitMax: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return;
  throw new Refusal('bad_request', `limit is a whole number from 1 to ${limitMax}`, 'limit');
}

function cursorAfter({ updated_at, id }: Selectable<ChatRow>): string {
  return Buffer.from(JSON.stringify([updated_at, id])).toString('base64url');
}

function parseCursor(cursor: string): { updatedAt: string; chatId: ChatId } {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(read) && read.length === 2 && read.every((part) => typeof part === 'string')) {
      return { updatedAt: toStoredText(read[0] as string), chatId: toStoredText(read[1] as string) as ChatId };
    }
  } catch {
    // Not JSON: no cursor of ours.
  }
  throw new Refusal('bad_request', 'after is no cursor of a list of chats: take `next` of the page before', 'after');
}
