import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const timings = { heartbeatTimeoutMs: 1500, trustWindowMs: 3000, describeAgentMs: 1000 };

test('L22: opened again past the trust window, a laptop whose attempt waited for its agent starts nothing, and the truth comes late, as a note', async () => {
  const whole = await Whole.open();
  const { proxy, chatId } = whole;
  const worker = whole.worker('execute-worker');
  // The agent is away for starts: none gets through to it.
  proxy.onRequest = ({ verb }) => {
    if (verb === 'start') throw new Error('the agent is away');
  };
  const turn = await whole.startTurn([commands({ waits: logged(whole.folder, 'waits') }), DONE], { timings });
  await turn.until('the attempt waits for its agent', async () => {
    const pending = (await turn.pending()).find(({ type }) => type === 'execute');
    return pending?.heartbeat?.phase === 'unreachable';
  });
  worker.signal('SIGSTOP');
  whole.agent.child.kill('SIGSTOP');
  expect((await turn.result()).state).toBe('completed');
  const call = await turn.call('waits');
  expect(call).toMatchObject({ status: 'unknown', evidence: { code: 'trust_window' } });

  proxy.onRequest = () => undefined;
  const starts = proxy.of('start').length;
  whole.agent.child.kill('SIGCONT');
  worker.signal('SIGCONT');
  const operations = await TurnOperations.open({ chatId, turn: turn.turn });
  expect(await operations.settleOf(call.key).result()).toMatchObject({ status: 'no_effect' });
  expect(proxy.of('start').slice(starts)).toEqual([]);
  expect(await turn.call('waits')).toMatchObject({ status: 'no_effect', result: { text: call.result?.text } });
  const conversation = await whole.store.loadConversation(chatId);
  expect(conversation.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'note']);
  expect(countRuns(whole.folder, 'waits')).toBe(0);
});
