import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { AgentId } from '../../../contract/ids.ts';
import { AgentProcess, countRuns, logged, makeAgentFolder } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** The row that a binding is. */
function bindChat(whole: Whole, agentId: AgentId): void {
  const database = new DatabaseSync(whole.storeUrl.slice('sqlite:'.length), { timeout: 5000 });
  database.prepare('update chats set agent_id = ? where id = ?').run(agentId, whole.chatId);
  database.close();
}

test('E12: a call stays with its agent when its chat is bound to another one, whose "unknown" ends nothing', async () => {
  const whole = await Whole.open();
  const { folder, proxy } = whole;
  const go = join(folder.root, 'go');
  const turn = await whole.startTurn([
    commands({ held: logged(folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done; exit 3`) }),
    DONE,
  ]);
  await turn.running('held');
  const { agentId } = await whole.agent.target();
  const other = await AgentProcess.start(makeAgentFolder());
  const { agentId: otherId } = await other.target();
  bindChat(whole, otherId);

  // At the call's address now answers the other agent, which has never heard of it.
  await whole.agent.kill();
  const socket = join(folder.state, 'agent.sock');
  rmSync(socket, { force: true });
  symlinkSync(join(other.folder.state, 'agent.sock'), socket);
  const { key } = await turn.call('held');
  await turn.until('the other agent has refused the call', () =>
    proxy.exchanges.some(({ verb, answer }) => verb !== 'info' && answer?.['agentId'] === otherId),
  );
  const refusals = proxy.exchanges.filter(({ verb, answer }) => verb !== 'info' && answer?.['agentId'] === otherId);
  expect(refusals[0]?.answer).toMatchObject({ error: { code: 'journal_replaced' } });
  await turn.until('the attempt waits for its own agent', async () => {
    const pending = (await turn.pending()).find(({ activityId }) => activityId === key);
    return pending?.heartbeat?.phase === 'unreachable';
  });
  expect(await turn.call('held')).toMatchObject({ status: 'reserved' });

  rmSync(socket);
  await whole.startAgent();
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  expect(await turn.call('held')).toMatchObject({ agentId, status: 'exited', exitCode: 3, target: { agentId } });
  expect(countRuns(folder, 'held')).toBe(1);

  // It had noticed the other agent at its address, and would go on polling for it.
  await whole.worker('execute-worker').kill();
  await whole.startExecuteWorker({ LATCHKEY_AGENT_ADDRESS: `unix:${join(other.folder.state, 'agent.sock')}` });
  const next = await whole.startTurn([commands({ there: logged(other.folder, 'there', 'exit 4') }), DONE]);
  expect(await next.result()).toMatchObject({ state: 'completed' });
  expect(await next.call('there')).toMatchObject({ agentId: otherId, status: 'exited', exitCode: 4 });
  expect(countRuns(other.folder, 'there')).toBe(1);
});
