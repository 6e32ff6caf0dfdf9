import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { CallOutcome } from '../../../contract/calls.ts';
import { parseAgentId, parseChatId, parseMessageId } from '../../../contract/ids.ts';
import type { AgentId, ChatId, Incarnation, JournalId, ToolCallId } from '../../../contract/ids.ts';
import type { Target } from '../../../contract/target.ts';
import type { CallDraft } from '../../../store/commit-step.ts';
import { openStore } from '../../../store/open-store.ts';
import type { StepAttempt } from '../../../store/steps.ts';
import type { Store } from '../../../store/store.ts';
import { makePostgresDatabase } from '../../fixtures/postgres-database.ts';

export const CHAT: ChatId = parseChatId('chat-1');
export const AGENT: AgentId = parseAgentId('agent-1');
export const TARGET: Target = {
  agentId: AGENT,
  journalId: 'journal-1' as JournalId,
  incarnation: 'incarnation-1' as Incarnation,
  sequence: 7,
};

/** A folder of this test's own; removed at its end. */
export async function makeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** On SQLite; in the project `postgres`, which runs the same tests again, on PostgreSQL. */
export async function makeStoreUrl(): Promise<string> {
  const isOnPostgres = (inject('postgresUrl') as string | undefined) !== undefined;
  return isOnPostgres ? makePostgresDatabase() : `sqlite:${join(await makeTemporaryFolder(), 'store.sqlite')}`;
}

/** An empty store of this test's own, or that of a URL. */
export async function openTestStore(url?: string): Promise<Store> {
  const store = await openStore(url ?? (await makeStoreUrl()));
  onTestFinished(() => store.close());
  return store;
}

/** A store with a chat whose turn 1 is running; the user's message has id 1. */
export async function openStoreWithTurn(): Promise<Store> {
  const store = await openTestStore();
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: 'hello' });
  await store.takeTurn({ chatId: CHAT, turn: await store.reserveNextTurn(CHAT), agentId: AGENT });
  return store;
}

export async function beginTestStep(
  store: Store,
  input: { step?: number; messageId?: number; stepNonce?: string; attemptScheduledMs?: number } = {},
): Promise<StepAttempt> {
  const begun = await store.beginStep({
    chatId: CHAT,
    turn: 1,
    step: input.step ?? 1,
    messageId: parseMessageId(input.messageId ?? 2),
    stepNonce: input.stepNonce ?? 'nonce',
    attemptScheduledMs: input.attemptScheduledMs ?? 1,
  });
  if (begun.state !== 'begun') throw new Error('the step was committed before');
  return begun.attempt;
}

export function draftCall(id: string): CallDraft {
  return {
    toolCallId: id as ToolCallId,
    toolName: 'execute',
    argumentsJson: JSON.stringify({ command: `echo ${id}` }),
    summary: `$ echo ${id}`,
    request: { command: `echo ${id}`, timeoutSeconds: 120, background: false, onTimeout: 'detach', notes: [] },
  };
}

export function exitOutcome(code: number, text = `exit ${code}`): CallOutcome {
  return {
    status: 'exited',
    evidence: { code: 'exit', detail: `It exited with ${code}.`, target: TARGET },
    text,
    exit: { code, durationMs: 5 },
  };
}

export async function eventTypes(store: Store): Promise<string[]> {
  const events = await store.readEvents({ chatId: CHAT, after: 0, limit: 1000 });
  return events.map((event) => event.type);
}
