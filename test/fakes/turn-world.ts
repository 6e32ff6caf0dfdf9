/**
 * Everything that a turn workflow meets, scripted and in memory: the model, the store, one agent. It records what
 * happened in its order, so that a test can say what came before what. Any activity can be replaced.
 */
import { randomUUID } from 'node:crypto';
import type {
  CancelCallResult,
  ControlActivities,
  ExecuteActivities,
  GenerateStepInput,
  GenerateStepResult,
  NoticeActivities,
  StoreActivities,
  SweepActivities,
  TurnActivities,
} from '../../contract/activity-interfaces.ts';
import { isResolved } from '../../contract/calls.ts';
import type { CallOutcome, CallStatus, CommittedCall, EvidenceCode, ExecuteRequest } from '../../contract/calls.ts';
import { buildExecutionKey } from '../../contract/execution-key.ts';
import { callNonce } from '../../contract/ids.ts';
import type { AgentId, ChatId, ExecutionKey, Incarnation, JournalId, ToolCallId } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';

export interface ScriptedCall {
  readonly id: string;
  readonly summary?: string;
  readonly background?: boolean;
  /** The row as it is committed; a refused call has no request. */
  readonly status?: CallStatus;
  readonly isRefused?: boolean;
  /** Commits the call with the target that generateStep was given, however old. */
  readonly withTarget?: boolean;
}

type Activities = TurnActivities &
  StoreActivities &
  SweepActivities &
  NoticeActivities &
  ExecuteActivities &
  ControlActivities;

interface Row {
  readonly step: number;
  call: CommittedCall;
  outcome?: CallOutcome;
  isStillAsked?: boolean;
  /** What became known after the result. */
  truth?: CallOutcome;
}

export class TurnWorld {
  readonly chatId = `chat-${randomUUID()}` as ChatId;
  readonly agentId = `agent-${randomUUID()}` as AgentId;
  readonly log: string[] = [];
  readonly rows = new Map<ExecutionKey, Row>();
  /** Replaces activities by name. */
  readonly overrides: Partial<Activities> = {};
  ended: string | undefined;
  readonly #steps: readonly (readonly ScriptedCall[])[];
  #sequence = 0;

  constructor(steps: readonly (readonly ScriptedCall[])[]) {
    this.#steps = steps;
  }

  target(): Target {
    this.#sequence += 1;
    const journalId = 'journal-1' as JournalId;
    return { agentId: this.agentId, journalId, incarnation: 'inc-1' as Incarnation, sequence: this.#sequence };
  }

  row(toolCallId: string): Row {
    const row = [...this.rows.values()].find(({ call }) => call.toolCallId === toolCallId);
    if (row === undefined) throw new Error(`no call ${toolCallId} was committed; log:\n${this.log.join('\n')}`);
    return row;
  }

  /** What the call's row says at the end: its status and what proves it. */
  end(toolCallId: string): string {
    const { outcome } = this.row(toolCallId);
    return outcome === undefined ? 'no result' : `${outcome.status} by ${outcome.evidence.code}`;
  }

  entries(beginning: string): string[] {
    return this.log.filter((line) => line.startsWith(beginning));
  }

  commit(input: GenerateStepInput): GenerateStepResult {
    const scripted = this.#steps[input.step - 1] ?? [];
    const calls = scripted.map((call, position) => commitCall(input, call, position));
    for (const call of calls) this.rows.set(call.key, { step: input.step, call });
    return { messageId: input.messageId, calls, isFinal: calls.length === 0 };
  }

  /** All activities as the workers run them: noted, then replaced or scripted. */
  activities(): Activities {
    const scripted = this.#scripted();
    const noted = Object.entries(scripted).map(([name, run]) => [
      name,
      async (input: never) => {
        this.log.push(`${name}${describeInput(input ?? {})}`);
        const override = this.overrides[name as keyof Activities] as ((input: never) => Promise<unknown>) | undefined;
        return (override ?? (run as (input: never) => Promise<unknown>))(input);
      },
    ]);
    return Object.fromEntries(noted) as Activities;
  }

  #scripted(): Activities {
    return {
      takeTurn: async () => ({ highestMessageId: 1 }),
      generateStep: async (input) => this.commit(input),
      compactConversation: async () => ({ messageCount: 0 }),
      closeStep: async ({ step }) => {
        const open = [...this.rows.values()].filter((row) => row.step === step && row.outcome === undefined);
        for (const row of open)
          if (row.call.target === undefined) row.outcome = outcomeOf('no_effect', 'not_dispatched');
        return { openCalls: open.filter((row) => row.outcome === undefined).map((row) => row.call) };
      },
      recordTargets: async ({ keys, target }) => {
        const rows = keys.map((key) => this.#requireRow(key));
        for (const row of rows) row.call = { ...row.call, target: row.call.target ?? target };
        return { targets: rows.map((row) => row.call.target ?? target) };
      },
      recordResult: async ({ key, outcome: found, isStillAsked = false }) => {
        const row = this.#requireRow(key);
        row.outcome ??= found;
        row.isStillAsked ??= isStillAsked;
        const status = row.isStillAsked ? 'cancel_requested' : row.outcome.status;
        return { status, evidence: row.outcome.evidence };
      },
      recordCancelRequests: async () => undefined,
      recordTruth: async ({ key, outcome: truth }) => {
        const row = this.#requireRow(key);
        row.outcome ??= truth;
        row.truth = truth;
        return { status: truth.status, evidence: truth.evidence };
      },
      endTurn: async ({ state, error }) => {
        this.ended ??= error === undefined ? state : `${state}: ${error.code}`;
        return { isNoticeWanted: false };
      },
      execute: async () => outcomeOf('exited', 'exit'),
      describeAgent: async () => {
        const target = this.target();
        return { target, incarnation: target.incarnation, isReady: true, chatHighestMessageId: 0 };
      },
      cancelCall: async (): Promise<CancelCallResult> => ({ outcome: outcomeOf('no_effect', 'fenced') }),
      readProcess: async () => outcomeOf('no_effect', 'read'),
      signalProcess: async () => outcomeOf('exited', 'signalled'),
      findStrays: async () => ({ turns: [], calls: [], chats: [] }),
      closeStrayTurn: async () => ({ openCalls: [] }),
      deliverNotice: async () => ({ status: 204 }),
    };
  }

  #requireRow(key: ExecutionKey): Row {
    const row = this.rows.get(key);
    if (row === undefined) throw new Error(`the workflow asks for ${key}, which was never committed`);
    return row;
  }
}

export function outcomeOf(status: CallOutcome['status'], code: EvidenceCode, more?: Partial<CallOutcome>): CallOutcome {
  const exit = code === 'exit' ? { exit: { code: 0, durationMs: 5 } } : {};
  return { status, evidence: { code, detail: `proven by ${code}` }, text: `[${status}]`, ...exit, ...more };
}

function commitCall(input: GenerateStepInput, scripted: ScriptedCall, position: number): CommittedCall {
  const toolCallId = scripted.id as ToolCallId;
  const request: ExecuteRequest = {
    command: `echo ${scripted.id}`,
    timeoutSeconds: 60,
    background: scripted.background ?? false,
    onTimeout: 'detach',
    notes: [],
  };
  const status = scripted.status ?? 'reserved';
  return {
    key: buildExecutionKey({ messageId: input.messageId, toolCallId }),
    toolCallId,
    toolName: 'execute',
    position,
    nonce: callNonce(input.stepNonce, position),
    summary: scripted.summary ?? `$ echo ${scripted.id}`,
    agentId: input.agentId,
    status,
    ...(scripted.isRefused === true || isResolved(status) ? {} : { request }),
    ...(scripted.withTarget === true && input.target !== undefined ? { target: input.target } : {}),
  };
}

function describeInput(input: {
  key?: string;
  mode?: string;
  step?: number;
  outcome?: CallOutcome;
  keys?: string[];
}): string {
  const parts = [input.mode, input.step, input.key, input.keys?.join(','), input.outcome?.status];
  return parts
    .filter((part) => part !== undefined)
    .map((part) => ` ${part}`)
    .join('');
}
