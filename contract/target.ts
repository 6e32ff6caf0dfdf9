import type { AgentId, Incarnation, JournalId } from './ids.ts';

/**
 * Where a call was dispatched to (K5): recorded in history and row before the dispatch. Only the journal it names
 * can give evidence about the call.
 */
export interface Target {
  readonly agentId: AgentId;
  readonly journalId: JournalId;
  readonly incarnation: Incarnation;
  /** The highest commit of that journal that the recorder had seen. */
  readonly sequence: number;
}
