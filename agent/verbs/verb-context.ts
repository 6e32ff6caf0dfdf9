/** What every verb works with, and what every verb by target checks first. */
import { CodedError } from '../../contract/failures.ts';
import type { ChatId, Nonce } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import type { Supervisor } from '../commands/supervisor.ts';
import type { CallRow } from '../journal/call-rows.ts';
import type { Startup } from '../startup.ts';
import type { AgentState } from '../state/open-state.ts';

export interface AgentSettings {
  /** Absolute: where commands run unless they ask for another place below or beside it. */
  readonly workspace: string;
  readonly envFile: string | undefined;
  readonly shell: string;
  readonly killGraceMs: number;
  /** Below so much free space no command is started. */
  readonly freeDiskBytesMin: number;
  /** Size of an output segment; the last two and the first are kept. */
  readonly segmentBytes: number;
  readonly version: string;
}

export interface VerbContext {
  readonly state: AgentState;
  readonly supervisor: Supervisor;
  readonly startup: Startup;
  readonly settings: AgentSettings;
  /** The daemon's own environment, from which an allow-list passes. */
  readonly environment: NodeJS.ProcessEnv;
  /** Aborted when the caller goes away or the agent closes; stops waiting, changes nothing (A09). */
  readonly signal: AbortSignal;
}

/**
 * Only the journal that a caller was told of may answer (K5, A12). A caller of this incarnation that has seen more
 * commits than the journal holds proves that it went back in time: from then on it is another journal.
 */
export async function requireTarget(context: VerbContext, target: Target): Promise<void> {
  const { state } = context;
  const isThisJournal = target.agentId === state.agentId && target.journalId === state.journalId;
  const isBehindCaller = target.incarnation === state.incarnation && target.sequence > state.journal.sequence;
  if (isThisJournal && !isBehindCaller) return;
  if (isThisJournal) await state.replaceJournal();
  throw new CodedError('journal_replaced', 'the call was dispatched to a journal that this agent does not have');
}

/** Another nonce is another call with an equal key: nothing is told, killed or fenced. */
export function requireNonce(row: CallRow, nonce: Nonce): void {
  if (row.nonce === nonce) return;
  throw new CodedError('input_mismatch', 'this key belongs to another call: its nonce differs', 'nonce');
}

/** An absent key of a message at or under the cutoff was known once; what became of it is not kept any more. */
export function isBelowCutoff(context: VerbContext, chatId: ChatId, messageId: number): boolean {
  return messageId <= context.state.calls.chat(chatId).cutoff;
}
