import { expect, test } from 'vitest';
import { draftCalls } from '../../../activities/model/draft-calls.ts';
import type { GenerateStepResult } from '../../../contract/activity-interfaces.ts';
import { AGENT, beginTestStep, openStoreWithTurn, TARGET } from '../store/chat-fixture.ts';

/** What a worker lets pass as one result; more would end the turn as a defect. */
const RESULT_BYTES_MAX = 1024 * 1024;

async function commit(count: number, command: string): Promise<GenerateStepResult> {
  const raw = Array.from({ length: count }, (_, index) => ({
    id: `${index}-${'界'.repeat(160)}`,
    name: 'execute',
    input: JSON.stringify({ command }),
  }));
  const store = await openStoreWithTurn();
  const calls = draftCalls(raw, { showCommands: true });
  return store.commitStep(await beginTestStep(store), { text: '', calls, agentId: AGENT, target: TARGET });
}

test.each([
  ['short commands', 'true'],
  ['commands that grow sixfold when they are encoded', '\u0001'.repeat(20_000)],
  ['long commands', 'x'.repeat(200_000)],
])(
  'F07 part: 300 calls of one reply, %s, fit into one result; those beyond are told so and never run',
  async (_name, command) => {
    const { calls } = await commit(300, command);
    expect(calls).toHaveLength(300);
    expect(Buffer.byteLength(JSON.stringify(calls))).toBeLessThan(RESULT_BYTES_MAX);
    const open = calls.filter(({ hasResult }) => hasResult !== true);
    expect(open.length).toBeGreaterThan(0);
    expect(open.length).toBeLessThanOrEqual(256);
    for (const { status } of calls.slice(open.length)) expect(status).toBe('no_effect');
  },
);
