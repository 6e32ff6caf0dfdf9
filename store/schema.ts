/** The tables as the queries see them. Times are ISO 8601 text, JSON is text, flags are 0 and 1: alike in every database. */
import type { CallStatus } from '../contract/calls.ts';
import type { TurnEnd } from '../contract/turn.ts';

export interface Schema {
  chats: ChatRow;
  turns: TurnRow;
  queued_messages: QueuedMessageRow;
  messages: MessageRow;
  steps: StepRow;
  compactions: CompactionRow;
  calls: CallRow;
  notes: NoteRow;
  retired_agents: RetiredAgentRow;
  stream_events: StreamEventRow;
}

export interface ChatRow {
  id: string;
  agent_id: string;
  /** Ids up to and including this one are taken, also those of steps that were begun and never committed. */
  highest_message_id: number;
  /** The turn that runs; at most one (T1). */
  active_turn: number | null;
  /** The highest turn number that was ever allotted. */
  last_turn: number;
  last_error_code: string | null;
  last_error_message: string | null;
  last_event_seq: number;
  /** Events up to and including this one may have been dropped: a cursor before it is too old (H03). */
  events_pruned_through: number;
  last_queue_position: number;
  created_at: string;
  /** From the first message; null until there is one. */
  title: string | null;
  /** Which model answers; null for a chat that was made before chats had one. */
  model: string | null;
  /** One more with each edit: what an earlier epoch still writes into the transcript is refused. */
  epoch: number;
  archived_at: string | null;
  /** When something was last said in it, for listing. */
  updated_at: string;
}

export interface TurnRow {
  chat_id: string;
  turn: number;
  agent_id: string | null;
  state: 'active' | TurnEnd;
  error_code: string | null;
  error_message: string | null;
  started_at: string | null;
  ended_at: string | null;
  /** The chat's epoch when it was taken. */
  epoch: number;
}

export interface QueuedMessageRow {
  chat_id: string;
  client_message_id: string;
  position: number;
  text: string;
  /** The turn that has claimed or taken it; null while it waits. */
  turn: number | null;
  at: string;
  /** Its id in the conversation, once its turn has taken it. */
  message_id: number | null;
  deleted_at: string | null;
  /** The chat's epoch since the edit that this is the new text of; null for a message that was sent. */
  edit_epoch: number | null;
}

export interface MessageRow {
  chat_id: string;
  id: number;
  role: 'user' | 'assistant' | 'summary';
  turn: number;
  step: number | null;
  client_message_id: string | null;
  text: string;
  /** 0, or the epoch that began with the edit that hid it: nobody is shown it any more. */
  hidden: number;
  /** The summary that stands for it before the model; people still see it. */
  summarized_by: number | null;
  at: string;
}

export interface StepRow {
  chat_id: string;
  turn: number;
  step: number;
  message_id: number | null;
  nonce: string | null;
  state: 'open' | 'committed' | 'closed';
  /** Whose attempt may write: a later one takes the step over, and what an earlier one still sends is refused. */
  attempt_token: string | null;
  /** The server's time at which that attempt was scheduled: an earlier attempt never takes over from a later one. */
  attempt_scheduled_ms: number;
  /** Parts of the running attempt can be seen. */
  has_parts: number;
  usage: string | null;
  at: string;
}

/** A summary that is being made, or was. */
export interface CompactionRow {
  chat_id: string;
  turn: number;
  /** From 1 within the turn. */
  number: number;
  message_id: number;
  state: 'open' | 'committed';
  /** As of a step. */
  attempt_token: string | null;
  attempt_scheduled_ms: number;
  /** The newest message when it was committed: what was counted of the window up to it is out of date. */
  seen_message_id: number | null;
  at: string;
}

export interface CallRow {
  chat_id: string;
  key: string;
  message_id: number;
  turn: number;
  position: number;
  tool_call_id: string;
  tool_name: string;
  arguments: string;
  request: string | null;
  nonce: string;
  summary: string;
  agent_id: string;
  status: CallStatus;
  target: string | null;
  evidence: string | null;
  /** The outcome without its text, which is `result_text`. */
  outcome: string | null;
  result_text: string | null;
  is_error: number | null;
  handle: string | null;
  exit_code: number | null;
  created_at: string;
  resolved_at: string | null;
  /** When a later truth last moved its status. */
  settled_at: string | null;
}

/** What the model is told of a late truth (C3). */
export interface NoteRow {
  chat_id: string;
  position: number;
  /** It stands after this message, and after the results of its calls. */
  after_message_id: number;
  key: string;
  text: string;
  at: string;
}

export interface RetiredAgentRow {
  agent_id: string;
  who: string;
  why: string;
  at: string;
}

export interface StreamEventRow {
  chat_id: string;
  seq: number;
  type: string;
  /** Set on parts: they are dropped once their step is committed or their attempt withdrawn. */
  part_of: string | null;
  payload: string;
  at: string;
}
