import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseChatId } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { AGENT, beginTestStep, CHAT, draftCall, exitOutcome, TARGET } from './chat-fixture.ts';

export const COPY = parseChatId('copy-1');

/** Makes a chat with all that a file holds: calls of several ends, a late truth, usage, an ended and a failed turn. */
export async function fillChat(store: Store): Promise<void> {
  await store.createChat({ chatId: CHAT, agentId: AGENT });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm1', text: 'hello' });
  await store.takeTurn({ chatId: CHAT, turn: await store.reserveNextTurn(CHAT), agentId: AGENT });
  const calls = ['a', 'b', 'c'].map(draftCall);
  const usage = { model: 'm', inputTokens: 12, outputTokens: 3 };
  const attempt = await beginTestStep(store);
  const text = 'two\nlines, ä \u2028 and "quotes"';
  await store.commitStep(attempt, { text, calls, agentId: AGENT, target: TARGET, usage });
  const record = (id: string, outcome: Parameters<Store['recordResult']>[0]['outcome'], isStillAsked = false) =>
    store.recordResult({ chatId: CHAT, turn: 1, key: parseExecutionKey(`2-${id}`), outcome, isStillAsked });
  const doubt = { status: 'unknown', evidence: { code: 'lost', detail: 'gone' }, text: 'nobody knows' } as const;
  await record('a', exitOutcome(0, 'fine\0'));
  await record('b', doubt);
  await record('c', { ...doubt, status: 'canceled', evidence: { code: 'agent_silent', detail: 'silent' } }, true);
  await store.recordTruth({ chatId: CHAT, turn: 1, key: parseExecutionKey('2-b'), outcome: exitOutcome(3) });
  await store.commitStep(await beginTestStep(store, { step: 2, messageId: 3 }), {
    text: 'done',
    calls: [],
    agentId: AGENT,
  });
  await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'm2', text: 'more' });
  await store.takeTurn({ chatId: CHAT, turn: await store.reserveNextTurn(CHAT), agentId: AGENT });
  await store.endTurn({ chatId: CHAT, turn: 2, state: 'failed', error: { code: 'model_refused', message: 'no' } });
}

export async function exportLines(store: Store, chatId = CHAT): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of store.exportChat(chatId)) lines.push(line);
  return lines;
}

export const asStream = (lines: readonly string[]) =>
  async function* stream() {
    yield* lines;
  };

/** Without what a copy has of its own. */
export function compared(lines: readonly string[]): unknown[] {
  return lines.slice(1).map((line) => ({ ...(JSON.parse(line) as object), chatId: undefined }));
}
