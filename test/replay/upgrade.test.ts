import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { readDeployment } from '../../client/deploy/read-deployment.ts';
import type { Build } from '../../client/deploy/read-deployment.ts';
import { setCurrentBuild } from '../../client/deploy/set-current-build.ts';
import { parseChatId } from '../../contract/ids.ts';
import { INTERRUPT_UPDATE, settleWorkflowId } from '../../contract/names.ts';
import type { InterruptAnswer, InterruptRequest } from '../../contract/operator.ts';
import { connectClient } from '../../tools/temporal/connection.ts';
import { bundleOlderBuild } from '../fixtures/older-build.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { WholeChat } from '../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../fixtures/whole-turn.ts';
import { historyToJson } from './history-json.ts';
import { replay } from './replay.ts';
import type { RecordedEvent } from './recorded-history.ts';

/** Less than a step has: the present code moves to a new run after the first one, the older code knows no such thing. */
const HISTORY_EVENTS_MAX = 10;
/** A server that isn't ours takes minutes to call a build drained. */
const TELLS_DRAINED_SOON = !process.env['TEMPORAL_ADDRESS'];

/** The protocol's numbers of VersioningBehavior; its enum is in a package that only the SDK depends on. */
const BEHAVIOURS: Readonly<Record<number, string>> = { 1: 'PINNED', 2: 'AUTO_UPGRADE' };

const LATCHKEY = join(import.meta.dirname, '../../client/latchkey.ts');

class TestDeployment {
  readonly name = `test-${randomUUID()}`;

  build(buildId: string, bundle = inject('workflowBundlePath')): Record<string, string> {
    return { LATCHKEY_DEPLOYMENT: this.name, LATCHKEY_BUILD_ID: buildId, LATCHKEY_WORKFLOW_BUNDLE: bundle };
  }

  /** As an operator runs it. */
  async latchkey(...words: string[]): Promise<{ readonly exitCode: number | null; readonly output: string }> {
    const child = spawn(process.execPath, [LATCHKEY, 'deploy', ...words], {
      env: {
        ...process.env,
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        TEMPORAL_NAMESPACE: inject('temporalNamespace'),
        LATCHKEY_DEPLOYMENT: this.name,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (child.exitCode === null) await once(child, 'exit');
    return { exitCode: child.exitCode, output: output + errors };
  }

  async find(client: Client, buildId: string): Promise<Build | undefined> {
    return (await readDeployment(client, this.name)).builds.find((build) => build.buildId === buildId);
  }
}

async function connect(): Promise<Client> {
  const client = await connectClient({ address: inject('temporalAddress'), namespace: inject('temporalNamespace') });
  onTestFinished(() => client.connection.close());
  return client;
}

async function buildOf(handle: WorkflowHandle): Promise<{ buildId: string; behaviour: string }> {
  const { raw } = await handle.describe();
  const { deploymentVersion, behavior } = raw.workflowExecutionInfo?.versioningInfo ?? {};
  return { buildId: deploymentVersion?.buildId ?? '', behaviour: BEHAVIOURS[Number(behavior)] ?? 'none' };
}

test('a turn in mid-call ends on the older build that began it, although it would not replay on the new one, where the next turn begins', async () => {
  const deployment = new TestDeployment();
  const [client, older] = await Promise.all([connect(), bundleOlderBuild()]);
  const whole = await Whole.open({ turnEnv: deployment.build('old', older) });
  await setCurrentBuild(client, { deployment: deployment.name, buildId: 'old', force: false });

  const { runLog, workspace } = whole.folder;
  const long = `echo start >> '${runLog}'; until [ -e '${join(workspace, 'gate')}' ]; do sleep 0.1; done; echo end >> '${runLog}'`;
  const turn = await whole.startTurn([commands({ first: 'echo first' }), commands({ long }), DONE], {
    historyEventsMax: HISTORY_EVENTS_MAX,
  });
  await turn.running('long');
  const oldWorker = whole.worker('turn-worker');

  const newWorker = await whole.startTurnWorker(deployment.build('new'));
  const said = await deployment.latchkey('current', 'new', '--json');
  expect(JSON.parse(said.output)).toEqual({ deployment: deployment.name, current: 'new', previous: 'old' });
  expect(await deployment.find(client, 'old')).toMatchObject({ state: 'draining', pinnedRuns: 1, workers: 1 });

  // It would not replay: the new code moves to a new run after the first step.
  const { events } = historyToJson(await turn.handle.fetchHistory());
  const history = { generation: 0, kind: 'old', part: 'turn', events: events as RecordedEvent[] };
  expect(await replay({ codePath: older }, [history])).toEqual({ '0/old.turn': undefined });
  expect((await replay({ codePath: inject('workflowBundlePath') }, [history]))['0/old.turn']).toMatch(
    /nondeterminism/i,
  );

  const newChat = parseChatId(`chat-${randomUUID()}`);
  const next = await whole.startTurn([commands({ first: 'echo first' }), DONE], { newChat });
  expect(await next.result()).toMatchObject({ state: 'completed', calls: 1 });
  expect(await buildOf(next.handle)).toMatchObject({ buildId: 'new', behaviour: 'PINNED' });

  // Without its worker it waits, and nobody else takes it; the next worker of its build replays it from the beginning.
  await oldWorker.kill();
  writeFileSync(join(workspace, 'gate'), '');
  await turn.until('the command has ended', () => readFileSync(runLog, 'utf8') === 'start\nend\n');
  await whole.startTurnWorker(deployment.build('old', older));
  expect(await turn.result()).toMatchObject({ state: 'completed', steps: 3, calls: 2 });
  expect(await buildOf(turn.handle)).toMatchObject({ buildId: 'old' });
  expect(readFileSync(runLog, 'utf8')).toBe('start\nend\n');
  expect(await turn.execution('long')).toMatchObject({ attempt: 1, end: 'completed' });
  expect(newWorker.log).not.toMatch(/nondeterminism/i);

  const drained = TELLS_DRAINED_SOON ? 'drained' : 'draining';
  await waitUntil('the old build is drained', async () => (await deployment.find(client, 'old'))?.state === drained, {
    deadlineMs: 30_000,
  });
  expect(await deployment.find(client, 'old')).toMatchObject({ pinnedRuns: 0, movingRuns: 0 });
  expect((await deployment.latchkey()).output).toMatch(/^new +current +0 .*\n(?:.*\n)*old +drained? /m);
});

test('a settle that began on one build goes on where new work goes, also on workers that are not versioned', async () => {
  const deployment = new TestDeployment();
  const [client, whole] = await Promise.all([connect(), Whole.open({ turnEnv: deployment.build('a') })]);
  await setCurrentBuild(client, { deployment: deployment.name, buildId: 'a', force: false });
  const turn = await whole.startTurn([commands({ held: 'sleep 300' }), DONE], {
    timings: { interruptGraceMs: 500, describeAgentMs: 500 },
  });
  await turn.running('held');
  await whole.agent.kill();
  await turn.handle.executeUpdate<InterruptAnswer, [InterruptRequest]>(INTERRUPT_UPDATE, { args: [{ who: 'Ann' }] });
  expect(await turn.result()).toMatchObject({ state: 'interrupted' });
  const { key } = await turn.call('held');
  const settle = client.workflow.getHandle(settleWorkflowId(turn.chatId, key));
  await waitUntil('the settle has begun on the build of its turn, and may move', async () => {
    const { buildId, behaviour } = await buildOf(settle);
    return buildId === 'a' && behaviour === 'AUTO_UPGRADE';
  });

  await whole.worker('turn-worker').kill();
  await whole.startTurnWorker();
  expect((await deployment.latchkey('current', '--unversioned')).output).toContain('workers without a build id');
  await whole.startAgent();
  expect(await settle.result()).toMatchObject({ status: 'canceled' });
  expect((await turn.call('held')).status).toBe('canceled');
});

test('a chat goes on on the current build, where its next turn begins; the one that runs ends where it began', async () => {
  const deployment = new TestDeployment();
  const [client, whole] = await Promise.all([connect(), Whole.open({ turnEnv: deployment.build('a') })]);
  await setCurrentBuild(client, { deployment: deployment.name, buildId: 'a', force: false });
  const gate = join(whole.folder.workspace, 'gate');
  const held = commands({ held: `until [ -e '${gate}' ]; do sleep 0.1; done` });
  const chat = await WholeChat.open(whole, { stepsByText: { first: [held, DONE] } });
  await chat.send('first');
  await chat.running('held', 1);

  await whole.startTurnWorker(deployment.build('b'));
  await setCurrentBuild(client, { deployment: deployment.name, buildId: 'b', force: false });
  await chat.send('second');
  expect(await buildOf(chat.handle)).toEqual({ buildId: 'b', behaviour: 'AUTO_UPGRADE' });
  writeFileSync(gate, '');
  await chat.idle(2);
  expect(await buildOf(chat.turnHandle(1))).toEqual({ buildId: 'a', behaviour: 'PINNED' });
  expect(await buildOf(chat.turnHandle(2))).toEqual({ buildId: 'b', behaviour: 'PINNED' });
  expect(await chat.asked()).toEqual(['first', 'second']);
});
