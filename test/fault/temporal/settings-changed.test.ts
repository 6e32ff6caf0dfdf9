import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AgentProcess, countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('I08: after workers and agent were restarted with other settings, the next attempt joins the command that runs', async () => {
  const whole = await Whole.open({ executeEnv: { LATCHKEY_EXECUTE_SLOTS: '7' }, agentEnv: { LANG: 'C.UTF-8' } });
  const release = join(whole.folder.root, 'release');
  // The first answer is lost, so that the next attempt can't know of the command: the fingerprint must match (A06).
  let isHeld = true;
  whole.proxy.faultOf = ({ verb }) => (verb === 'start' && isHeld ? 'hold' : undefined);
  const command = logged(whole.folder, 'once', `until [ -e '${release}' ]; do sleep 0.1; done; echo out; exit 9`);
  const turn = await whole.startTurn([commands({ once: { command, timeout_seconds: 100, intent: 'to wait' } }), DONE]);
  await turn.until('the agent has started it', () => whole.proxy.of('start').some(({ fault }) => fault === 'hold'));
  await whole.worker('execute-worker').kill();
  await whole.worker('turn-worker').kill();
  await whole.agent.kill();

  const envFile = join(whole.folder.root, 'env');
  writeFileSync(envFile, 'ADDED=1\n');
  const words = ['--command-env', envFile, '--keep-output', '1h', '--no-cgroup'];
  const env = { LANG: 'en_US.UTF-8', TZ: 'Asia/Tokyo', PATH: `${process.env['PATH']}:/opt/none` };
  whole.agents.push(await AgentProcess.start(whole.folder, { env, words }));
  isHeld = false;
  await whole.startExecuteWorker({ LATCHKEY_EXECUTE_SLOTS: '3', LATCHKEY_HEARTBEAT_THROTTLE_MS: '500', LANG: 'C' });
  await whole.startTurnWorker({ LATCHKEY_HEARTBEAT_THROTTLE_MS: '500', LATCHKEY_SWEEP_SECONDS: '43200' });
  await turn.running('once');
  writeFileSync(release, '');
  expect(await turn.result()).toMatchObject({ state: 'completed' });

  expect(countRuns(whole.folder, 'once')).toBe(1);
  expect(whole.proxy.of('start').map(({ body, answer }) => [body['mustExist'], answer?.['outcome']])).toEqual([
    [undefined, 'started'],
    [undefined, 'attached'],
  ]);
  const call = await turn.call('once');
  expect(call).toMatchObject({ status: 'exited', exitCode: 9, request: { timeoutSeconds: 100 } });
  expect(call.result?.text).toMatch(/^out\n\[exit 9 after /);
});
