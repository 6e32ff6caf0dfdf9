import { expect, test } from 'vitest';
import { countRuns, logged, makeAgentFolder } from '../../fixtures/agent-process.ts';
import { GatedKeeper } from '../../fixtures/gated-keeper.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('E02: a worker killed before it told of the answer leaves a command that the next attempt joins', async () => {
  const whole = await Whole.open();
  let isHeld = true;
  whole.proxy.faultOf = ({ verb }) => (verb === 'start' && isHeld ? 'hold' : undefined);
  const turn = await whole.startTurn([commands({ once: logged(whole.folder, 'once', 'echo out; exit 5') }), DONE]);
  await turn.until('the agent has started it', () => whole.proxy.of('start').some(({ fault }) => fault === 'hold'));
  const [pending] = await turn.pending();
  // Nothing that could prove a start has reached the server.
  expect(pending?.heartbeat?.handle).toBeUndefined();
  await whole.worker('execute-worker').kill();
  isHeld = false;
  await whole.startExecuteWorker();
  expect(await turn.result()).toMatchObject({ state: 'completed' });

  expect(countRuns(whole.folder, 'once')).toBe(1);
  const call = await turn.call('once');
  expect(call).toMatchObject({ status: 'exited', exitCode: 5 });
  expect(call.result?.text).toMatch(/^out\n\[exit 5 after /);
  expect(await turn.execution('once')).toMatchObject({ attempt: 2, end: 'completed' });
  // Not `mustExist`: the second attempt could not know, and the key alone kept it from a second run.
  expect(whole.proxy.of('start').map(({ body, answer }) => [body['mustExist'], answer?.['outcome']])).toEqual([
    [undefined, 'started'],
    [undefined, 'attached'],
  ]);
});

test('E02: a worker killed while its start is pending leaves a launch that the next attempt joins', async () => {
  const keeper = new GatedKeeper(makeAgentFolder().root, 'before-claim');
  const whole = await Whole.open({ agentEnv: keeper.env });
  const turn = await whole.startTurn([commands({ once: logged(whole.folder, 'once', 'exit 6') }), DONE]);
  await keeper.reached();
  await whole.worker('execute-worker').kill();
  await whole.startExecuteWorker();
  await turn.until('the next attempt has asked', () => whole.proxy.of('start').length > 1);
  expect(countRuns(whole.folder, 'once')).toBe(0);
  await keeper.open();
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  expect(countRuns(whole.folder, 'once')).toBe(1);
  expect(await turn.call('once')).toMatchObject({ status: 'exited', exitCode: 6 });
});
