import type { TurnEnd } from '../contract/turn.ts';
import type { Database } from './database.ts';
import type { TurnError } from './stream-events.ts';
import { inSnapshot } from './transaction.ts';
import type { TurnName } from './turn-rows.ts';

/** What others are told of a turn that has ended. */
export interface EndedTurn {
  readonly state: TurnEnd;
  readonly error?: TurnError;
  readonly endedAt: string;
  /** Committed ones. */
  readonly steps: number;
  readonly calls: number;
  /** The chat's. */
  readonly title?: string;
}

/** Undefined for a turn that runs, or that the store doesn't know. */
export async function findEndedTurn(db: Database, name: TurnName): Promise<EndedTurn | undefined> {
  return inSnapshot(db, (trx) => readEndedTurn(trx, name));
}

async function readEndedTurn(db: Database, { chatId, turn }: TurnName): Promise<EndedTurn | undefined> {
  const row = await db
    .selectFrom('turns')
    .innerJoin('chats', 'chats.id', 'turns.chat_id')
    .select(['state', 'error_code', 'error_message', 'ended_at', 'title'])
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .executeTakeFirst();
  if (row === undefined || row.state === 'active') return undefined;
  const { steps } = await db
    .selectFrom('steps')
    .select(({ fn }) => fn.countAll().as('steps'))
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .where('state', '=', 'committed')
    .executeTakeFirstOrThrow();
  const { calls } = await db
    .selectFrom('calls')
    .select(({ fn }) => fn.countAll().as('calls'))
    .where('chat_id', '=', chatId)
    .where('turn', '=', turn)
    .executeTakeFirstOrThrow();
  return {
    state: row.state,
    endedAt: row.ended_at ?? new Date().toISOString(),
    // PostgreSQL counts in text.
    steps: Number(steps),
    calls: Number(calls),
    ...(row.error_code === null ? {} : { error: { code: row.error_code, message: row.error_message ?? '' } }),
    ...(row.title === null ? {} : { title: row.title }),
  };
}
