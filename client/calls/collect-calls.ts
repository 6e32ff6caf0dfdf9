/**
 * Calls from three sources. The store's result stands (C3); of an open call the heartbeat is newest, then the workflow's
 * own view, then the row.
 */
import type { Client } from '@temporalio/client';
import { isResolved } from '../../contract/calls.ts';
import type { CallStatus } from '../../contract/calls.ts';
import { activityIdOf } from '../../contract/execution-key.ts';
import type { AgentId, ChatId, ExecutionKey, Handle } from '../../contract/ids.ts';
import type { RetireAgent } from '../../contract/settle.ts';
import type { CallView } from '../../contract/turn.ts';
import type { Store, StoredCall } from '../open-store.ts';
import type { PendingActivity } from '../watch/pending-activities.ts';
import { findStuckReason } from './find-stuck-reason.ts';
import type { Observation, StuckReason } from './find-stuck-reason.ts';
import { findLastPoll } from './last-poll.ts';
import { listTurns } from './list-turns.ts';
import type { CallsFilter, SeenTurn } from './list-turns.ts';

/** One call, as an operator sees it. */
export interface CallLine {
  readonly chatId: ChatId;
  readonly turn: number;
  readonly key: ExecutionKey;
  readonly summary: string;
  readonly status: CallStatus;
  readonly isOpen: boolean;
  readonly agentId: AgentId;
  readonly handle?: Handle;
  readonly exitCode?: number;
  /** Of the activity that is pending. */
  readonly attempt?: number;
  /** Of an open call its age; of an ended one how long its command ran. */
  readonly timeMs?: number;
  readonly lastLine?: string;
  readonly stuck?: StuckReason;
}

export interface CollectedCalls {
  readonly calls: readonly CallLine[];
  /** What is odd about whole turns, one sentence each. */
  readonly notes: readonly string[];
}

export interface CollectOptions {
  readonly store: Store;
  /** Left out when no server is there: then the store alone is told, of the turns that it holds open and of `fallback`. */
  readonly client?: Client | undefined;
  readonly filter: CallsFilter;
  /** So many of the turns that have ended are shown too. */
  readonly endedTurnsMax: number;
  readonly pollerSilenceMs?: number;
  readonly fallback?: { readonly chatId: ChatId; readonly turn?: number } | undefined;
}

export async function collectCalls(options: CollectOptions): Promise<CollectedCalls> {
  const { store, client, filter, endedTurnsMax, pollerSilenceMs, fallback } = options;
  if (client === undefined) {
    const calls = await callsOfStore(store, fallback);
    const lines = calls.filter((call) => fits(call, filter)).map((call) => lineOf(call, {}));
    return { calls: openFirst(lines), notes: [] };
  }
  const turns = await listTurns(client, filter, endedTurnsMax);
  const look = { store, lastPoll: lastPollOnce(client), pollerSilenceMs, retired: await store.listRetiredAgents() };
  const perTurn = await Promise.all(turns.map((turn) => callsOfTurn(look, turn)));
  const calls = [...perTurn.flat(), ...(await callsOfSettles(look, turns))].filter((call) => fits(call, filter));
  return {
    calls: openFirst(calls),
    notes: turns.flatMap(notesOf),
  };
}

function openFirst(calls: readonly CallLine[]): CallLine[] {
  return calls.toSorted((left, right) => Number(right.isOpen) - Number(left.isOpen));
}

async function callsOfStore(store: Store, fallback: CollectOptions['fallback']): Promise<StoredCall[]> {
  const { turns, calls } = await store.listUnfinished();
  const asked = [...turns, ...(fallback === undefined ? [] : [fallback])];
  const ofTurns = await Promise.all(asked.map((turn) => store.listCalls(turn)));
  const settling = await Promise.all(calls.map(({ chatId, call: { key } }) => store.findCall({ chatId, key })));
  const found = [...ofTurns.flat(), ...settling.filter((call) => call !== undefined)];
  return [...new Map(found.map((call) => [`${call.chatId}/${call.key}`, call])).values()];
}

type LastPoll = (agentId: AgentId) => Promise<number | 'none' | undefined>;

function lastPollOnce(client: Client): LastPoll {
  const asked = new Map<AgentId, ReturnType<LastPoll>>();
  return (agentId) => {
    const asking = asked.get(agentId) ?? findLastPoll(client, agentId, Date.now());
    asked.set(agentId, asking);
    return asking;
  };
}

interface Look {
  readonly store: Store;
  readonly lastPoll: LastPoll;
  readonly pollerSilenceMs: number | undefined;
  readonly retired: readonly (RetireAgent & { readonly agentId: AgentId; readonly at: string })[];
}

async function callsOfTurn(look: Look, turn: SeenTurn): Promise<CallLine[]> {
  const { store, lastPoll, pollerSilenceMs, retired } = look;
  const { chatId, turn: number, pending, calls: views, isRunning } = turn;
  const rows = await store.listCalls({ chatId, turn: number });
  return Promise.all(
    rows.map(async (row) => {
      const activity = pending.find(
        ({ activityId, type }) => type === 'execute' && activityId === activityIdOf(row.key),
      );
      const view = views?.find(({ key }) => key === row.key);
      const lastPollAgoMs = activity?.state === 'scheduled' ? await lastPoll(row.agentId) : undefined;
      const retirement = retired.find(({ agentId }) => agentId === row.agentId);
      return lineOf(row, {
        ...(pollerSilenceMs !== undefined && { pollerSilenceMs }),
        ...(retirement !== undefined && { retirement }),
        ...(activity !== undefined && { pending: activity }),
        ...(view !== undefined && { view }),
        ...(lastPollAgoMs !== undefined && { lastPollAgoMs }),
        workflow: isRunning ? 'running' : 'closed',
        ...(isRunning && { hasTurnWorker: views !== undefined }),
      });
    }),
  );
}

/** A settle may go on for a day: its turn needn't be among the last that have ended. */
async function callsOfSettles({ store, retired }: Look, turns: readonly SeenTurn[]): Promise<CallLine[]> {
  const { calls } = await store.listUnfinished();
  const others = calls.filter(
    (call) => !turns.some(({ chatId, turn }) => chatId === call.chatId && turn === call.turn),
  );
  const rows = await Promise.all(others.map(({ chatId, call: { key } }) => store.findCall({ chatId, key })));
  return rows.flatMap((row) => {
    if (row === undefined) return [];
    const retirement = retired.find(({ agentId }) => agentId === row.agentId);
    return [lineOf(row, { workflow: 'closed', ...(retirement !== undefined && { retirement }) })];
  });
}

type SeenOfCall = Partial<Omit<Observation, 'status' | 'createdMs'>> & { readonly view?: CallView };

function lineOf(row: StoredCall, seen: SeenOfCall): CallLine {
  const { chatId, turn, key, summary, agentId } = row;
  const { pending, view } = seen;
  const status = statusOf(row, pending, view);
  const createdMs = Date.parse(row.createdAt);
  const nowMs = Date.now();
  const isOpen = !isResolved(status);
  const startedMs = pending?.heartbeat?.started === undefined ? createdMs : Date.parse(pending.heartbeat.started);
  const handle = row.handle ?? pending?.heartbeat?.handle ?? view?.handle;
  const timeMs = isOpen ? nowMs - startedMs : row.outcome?.exit?.durationMs;
  const stuck = findStuckReason({ workflow: 'unknown', ...seen, status, createdMs }, nowMs);
  const fields = {
    handle,
    exitCode: row.exitCode,
    attempt: pending?.attempt,
    timeMs,
    lastLine: pending?.heartbeat?.lastLine,
    stuck,
  };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { chatId, turn, key, summary, status, isOpen, agentId, ...(Object.fromEntries(known) as Partial<CallLine>) };
}

function statusOf(row: StoredCall, pending: PendingActivity | undefined, view: CallView | undefined): CallStatus {
  if (isResolved(row.status)) return row.status;
  if (view?.status === 'cancel_requested') return 'cancel_requested';
  if (pending?.heartbeat?.handle !== undefined) return 'running';
  return pending !== undefined ? 'starting' : (view?.status ?? row.status);
}

function notesOf({ chatId, turn, isRunning, calls, pending }: SeenTurn): string[] {
  if (!isRunning) return [];
  const name = `turn ${turn} of chat ${chatId}`;
  const model = pending.find(({ type }) => type === 'generateStep');
  return [
    ...(calls === undefined ? [`${name}: no turn worker answers`] : []),
    ...(model === undefined || model.attempt === 1
      ? []
      : [`${name}: the model, attempt ${model.attempt}: ${model.lastFailure ?? 'no reason known'}`]),
  ];
}

function fits(call: { chatId: ChatId; agentId: AgentId }, { chatId, agentId }: CallsFilter): boolean {
  return (chatId === undefined || call.chatId === chatId) && (agentId === undefined || call.agentId === agentId);
}
