import type { ChatId } from '../contract/ids.ts';
import type { Database } from './database.ts';

/** What a model call cost, as its provider counted; what it doesn't tell is absent. Of the attempt that was committed. */
export interface StepUsage {
  readonly model: string;
  /** All of them, those read from a cache and written to it included. */
  readonly inputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** All of them, reasoning included. */
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
}

export interface UsedStep {
  readonly turn: number;
  readonly step: number;
  readonly usage: StepUsage;
}

/** The committed steps of a chat, or of one of its turns, with what they cost, in order. */
export async function listUsage(
  db: Database,
  input: { readonly chatId: ChatId; readonly turn?: number },
): Promise<readonly UsedStep[]> {
  let query = db.selectFrom('steps').select(['turn', 'step', 'usage']).where('chat_id', '=', input.chatId);
  if (input.turn !== undefined) query = query.where('turn', '=', input.turn);
  const rows = await query.where('usage', 'is not', null).orderBy('turn').orderBy('step').execute();
  return rows.flatMap(({ turn, step, usage }) =>
    usage === null ? [] : [{ turn, step, usage: JSON.parse(usage) as StepUsage }],
  );
}
