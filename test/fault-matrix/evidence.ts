/** All that is known of a turn afterwards, from five witnesses: run log, store, stream, history, journal. */
import { findFailureCode } from '../../contract/failures.ts';
import type { ConversationMessage } from '../../contract/messages.ts';
import type { StoredCall } from '../../store/call-row.ts';
import type { StreamEvent } from '../../store/stream-events.ts';
import type { StartedTurn } from './chat.ts';
import { insist } from './chat.ts';
import { readTurnHistory } from './history.ts';
import type { TurnHistory } from './history.ts';
import type { TurnPlan } from './plans.ts';

export interface Evidence {
  /** For people: chat, turn and kind. */
  readonly name: string;
  readonly plan: TurnPlan;
  readonly turn: number;
  readonly end: { readonly state: string; readonly code: string | undefined };
  readonly calls: readonly StoredCall[];
  readonly events: readonly StreamEvent[];
  readonly conversation: readonly ConversationMessage[];
  readonly history: TurnHistory;
  /** By key: what its agent says of it; only of calls that have a target. */
  readonly journal: ReadonlyMap<string, string>;
  readonly wedged: string | undefined;
  /** Of the whole chat. */
  readonly shownWrong: readonly string[];
  /** How often a line is in the run log. */
  readonly count: (line: string) => number;
}

const EVENTS_MAX = 10_000;

export async function gather(started: StartedTurn): Promise<Evidence> {
  const { chat, turn, plan, handle, wedged } = started;
  const { chatId, stage } = chat;
  const { store } = stage;
  const row = await store.findTurn({ chatId, turn });
  const calls = await store.listCalls({ chatId, turn });
  const journal = new Map<string, string>();
  for (const call of calls) if (call.target !== undefined) journal.set(call.key, await probe(started, call));
  const lines = stage.readRunLog();
  return {
    name: `turn ${turn} of ${chatId} (${plan.kind})`,
    plan,
    turn,
    end: { state: row?.state ?? 'never taken', code: row?.error?.code },
    calls,
    events: await store.readEvents({ chatId, after: 0, limit: EVENTS_MAX }),
    conversation: await store.loadConversation(chatId),
    history: await insist('its history is read', () => readTurnHistory(handle)),
    journal,
    wedged,
    shownWrong: chat.watcher.wrong,
    count: (line) => lines.filter((found) => found === line).length,
  };
}

/** A refusal's code is an answer like any other. */
async function probe({ chat }: StartedTurn, { key, nonce, target }: StoredCall): Promise<string> {
  const { agentClient } = chat.stage;
  return insist(`the agent answers for ${key}`, async () => {
    if (target === undefined) throw new Error('a call without a target is asked of nobody');
    try {
      return (await agentClient.probe({ target, chatId: chat.chatId, key, nonce })).state;
    } catch (error) {
      const code = findFailureCode(error);
      if (code === undefined || code === 'agent_unreachable') throw error;
      return code;
    }
  });
}

/** The row of a planned call. */
export function findCall({ calls }: Evidence, label: string): StoredCall | undefined {
  return calls.find(({ toolCallId }) => String(toolCallId) === label);
}

/** Says that no process of this call was ever made. */
export function saysNothingRan({ evidence, status }: Pick<StoredCall, 'evidence' | 'status'>): boolean {
  const codes: readonly string[] = ['void', 'fenced', 'spawn_failed', 'not_dispatched', 'invalid_arguments'];
  return status === 'no_effect' || (status === 'canceled' && codes.includes(evidence?.code ?? ''));
}
