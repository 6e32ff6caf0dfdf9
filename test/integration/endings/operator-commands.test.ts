import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, inject, test } from 'vitest';
import { logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';
import type { WholeTurn } from '../../fixtures/whole-turn.ts';

interface Said {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** The command line as a person runs it, configured for the pieces of this test. */
async function latchkey(whole: Whole, ...words: string[]): Promise<Said> {
  const main = join(import.meta.dirname, '../../../client/latchkey.ts');
  const child = spawn(process.execPath, [main, ...words], {
    cwd: whole.folder.workspace,
    env: {
      ...process.env,
      XDG_STATE_HOME: join(whole.folder.root, 'xdg'),
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      TEMPORAL_NAMESPACE: inject('temporalNamespace'),
      LATCHKEY_STORE: whole.storeUrl,
      LATCHKEY_TURN_QUEUE: whole.turnQueue,
      LATCHKEY_AGENT_ADDRESS: whole.proxy.address,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, 'exit');
  return { exitCode: child.exitCode ?? -1, output, errors };
}

test('latchkey call resolve ends a call whose agent and worker are gone; what can not be proven is refused in one line', async () => {
  const whole = await Whole.open();
  const { chatId } = whole;
  const turn = await whole.startTurn([commands({ stuck: logged(whole.folder, 'stuck', 'sleep 300') }), DONE], {
    timings: { describeAgentMs: 2000 },
  });
  await turn.running('stuck');
  const { key, agentId } = await turn.call('stuck');
  await whole.worker('execute-worker').kill();
  await whole.agent.kill();
  const of = ['call', 'resolve', key, '--chat', chatId, '--why', 'the machine is gone', '--who', 'Ann'];
  const both = await latchkey(whole, ...of, '--unknown', '--not-run');
  expect([both.exitCode, both.errors]).toEqual([125, expect.stringContaining('say one of')]);
  const refused = await latchkey(whole, ...of, '--not-run');
  expect(refused.exitCode).toBe(125);
  expect(refused.errors).toMatch(
    /^latchkey: only its agent can prove that it never ran: .*\n {2}Bring the agent back.*\n$/,
  );
  // Its settles would end, but a turn that runs is its own: the step that ends each wait is named.
  const retired = await latchkey(whole, 'agent', 'retire', agentId, '--why', 'the machine is gone');
  expect(retired.output).toContain(`latchkey call resolve ${key} --chat ${chatId} --unknown`);
  const ended = await latchkey(whole, ...of, '--exit', '0');
  expect(ended).toMatchObject({ exitCode: 0, output: expect.stringContaining('the call is exited') as string });
  expect((await turn.result()).state).toBe('completed');
  expect(await turn.call('stuck')).toMatchObject({ status: 'exited', evidence: { code: 'operator' }, exitCode: 0 });
});

async function eventNames(turn: WholeTurn): Promise<string[]> {
  const { events } = await turn.handle.fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionUpdateAcceptedEventAttributes, ...event }) => [
    ...(workflowExecutionUpdateAcceptedEventAttributes ? ['update'] : []),
    ...(event.workflowExecutionCancelRequestedEventAttributes ? ['cancel'] : []),
  ]);
}

test('latchkey run --interrupt sends the update, which the turn takes', async () => {
  const whole = await Whole.open();
  const turn = await whole.startTurn([commands({ a: 'sleep 300' }), DONE]);
  await turn.running('a');
  const said = await latchkey(whole, 'run', '--interrupt', whole.chatId);
  expect(said).toMatchObject({ exitCode: 1, errors: expect.stringContaining('interrupted') as string });
  expect((await turn.result()).state).toBe('interrupted');
  expect(await eventNames(turn)).toEqual(['update']);
  const again = await latchkey(whole, 'run', '--interrupt', whole.chatId);
  expect(again).toMatchObject({ exitCode: 125, errors: expect.stringContaining('has ended already') as string });
});

test('latchkey run --interrupt is kept where no turn worker can take it, and acts when one runs again', async () => {
  const whole = await Whole.open();
  const turn = await whole.startTurn([commands({ a: 'sleep 300' }), DONE]);
  await turn.running('a');
  await whole.worker('turn-worker').kill();
  const saying = latchkey(whole, 'run', '--interrupt', whole.chatId);
  await turn.until('the interrupt is kept', async () => (await eventNames(turn)).includes('cancel'));
  await whole.startTurnWorker();
  expect((await turn.result()).state).toBe('interrupted');
  expect(await turn.call('a')).toMatchObject({ status: 'canceled', evidence: { code: 'killed' } });
  const said = await saying;
  expect(said).toMatchObject({ exitCode: 1, errors: expect.stringContaining('the interrupt is kept') as string });
});

test('latchkey agent retire ends every settle that waits for that agent, and no other', async () => {
  const whole = await Whole.open();
  const { chatId } = whole;
  const turn = await whole.startTurn([commands({ a: 'sleep 300', b: 'sleep 300' }), DONE], {
    timings: { interruptGraceMs: 1500 },
  });
  await Promise.all([turn.running('a'), turn.running('b')]);
  const { agentId } = await whole.agent.target();
  await whole.worker('execute-worker').kill();
  await (await TurnOperations.open({ chatId, turn: turn.turn })).interrupt();
  await turn.result();
  expect((await turn.calls()).map(({ status }) => status)).toEqual(['cancel_requested', 'cancel_requested']);
  // So many later turns that theirs is none of the last that are listed.
  for (let more = 0; more < 3; more++) {
    const later = await whole.startTurn([DONE], { timings: { describeAgentMs: 200 } });
    await later.result();
  }
  const listed = await latchkey(whole, 'calls', '--stuck', '--chat', chatId, '--json');
  expect(listed.exitCode).toBe(1);
  const seen = JSON.parse(listed.output) as { calls: { key: string; turn: number; stuck?: { code: string } }[] };
  expect(seen.calls.map(({ key, turn: number, stuck }) => `${key} of ${number}: ${stuck?.code}`).toSorted()).toEqual([
    '2-a of 1: cancel_requested',
    '2-b of 1: cancel_requested',
  ]);

  const other = await latchkey(whole, 'agent', 'retire', 'a-another', '--why', 'not ours');
  expect(other).toMatchObject({ exitCode: 0, output: expect.stringContaining('no call waited') as string });
  const retired = await latchkey(whole, 'agent', 'retire', agentId, '--why', 'the machine was scrapped');
  expect(retired).toMatchObject({ exitCode: 0, output: expect.stringContaining('ended the wait for 2') as string });
  expect((await turn.calls()).map(({ status, evidence }) => `${status} by ${evidence?.code}`)).toEqual([
    'unknown by operator',
    'unknown by operator',
  ]);
});
