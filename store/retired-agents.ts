/** Agents that a person has declared gone for good: whoever waits for their word waits in vain. */
import type { AgentId } from '../contract/ids.ts';
import { OPERATOR_TEXT_CHARACTERS_MAX } from '../contract/limits.ts';
import type { RetireAgent } from '../contract/settle.ts';
import { toSafeText } from '../contract/well-formed.ts';
import type { Database } from './database.ts';
import { toStoredText } from './stored-text.ts';

export interface RetiredAgent extends RetireAgent {
  readonly agentId: AgentId;
  /** ISO 8601. */
  readonly at: string;
}

/** The last word stands. Nothing is refused to such an agent: should it come back, its journal still has every key. */
export async function recordRetirement(db: Database, input: RetireAgent & { agentId: AgentId }): Promise<void> {
  const row = {
    who: toStoredText(toSafeText(input.who, OPERATOR_TEXT_CHARACTERS_MAX)),
    why: toStoredText(toSafeText(input.why, OPERATOR_TEXT_CHARACTERS_MAX)),
    at: new Date().toISOString(),
  };
  await db
    .insertInto('retired_agents')
    .values({ agent_id: input.agentId, ...row })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(row))
    .execute();
}

export async function listRetiredAgents(db: Database): Promise<readonly RetiredAgent[]> {
  const rows = await db.selectFrom('retired_agents').selectAll().execute();
  return rows.map(({ agent_id, who, why, at }) => ({ agentId: agent_id as AgentId, who, why, at }));
}
