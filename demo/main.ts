/**
 * `npm run demo`: a real small job, with the execute worker and the agent killed in the middle of it.
 * Needs no model key, no server, no root, and no set-up after `npm ci`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from '@temporalio/client';
import { describeFailure } from '../client/describe-failure.ts';
import { startTurn } from '../client/start-turn.ts';
import type { TurnHandle } from '../client/start-turn.ts';
import { readPendingActivities } from '../client/watch/pending-activities.ts';
import { createAgentClient } from '../agent-client/agent-client.ts';
import { TURN_TASK_QUEUE_DEFAULT } from '../contract/names.ts';
import { parseChatId } from '../contract/ids.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { connectClient } from '../tools/temporal/connection.ts';
import type { DevServer } from '../tools/temporal/dev-server.ts';
import { startDevServer } from '../tools/temporal/dev-server.ts';
import { AGENT_KILL, makeJob, USER_TEXT, WORKER_KILL } from './job.ts';
import { prove } from './proof.ts';
import type { ProofLine } from './proof.ts';
import { Stage } from './stage.ts';
import type { Piece } from './stage.ts';
import { Timeline } from './timeline.ts';

const USAGE = `Usage: npm run demo [-- --keep] [-- --json]

A real small job in a fresh repository. In the middle of one command the execute worker is killed with SIGKILL, in the
middle of another the agent; each command still runs once. Takes about a minute.

  --keep   leave everything up (Temporal UI, workers, agent, repository) until Ctrl-C
  --json   the timeline on standard error, one line of JSON on standard output
`;

/** Short, so that the demo needn't wait long for a dead worker to be noticed. */
const HEARTBEAT_TIMEOUT_MS = 3000;
const POLL_MS = 150;
const CHAT = parseChatId('demo');
const INTERRUPTED = 130;

interface Kills {
  workerKills: number;
  agentKills: number;
}

interface Scene {
  readonly stage: Stage;
  readonly timeline: Timeline;
  readonly server: DevServer;
  readonly store: Store;
  readonly temporal: NodeJS.ProcessEnv;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      keep: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const timeline = new Timeline({ isQuiet: values.json });
  const stage = new Stage();
  const cleanUp: (() => Promise<void>)[] = [() => stage.clear({ keepFolder: false })];
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort(new Error('interrupted'));
  // Again and again: a second Ctrl-C must not end the demo before its pieces.
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const ending = once(interrupted.signal);
    const work = play({ stage, timeline, isJson: values.json, cleanUp, signal: interrupted.signal });
    const exitCode = await Promise.race([work, ending.then(() => INTERRUPTED)]);
    // What is taken away from it below makes it fail; of that nobody needs to hear.
    work.catch(() => undefined);
    if (values.keep && !interrupted.signal.aborted) {
      timeline.print(`\nEverything is left up, in ${stage.root}. Ctrl-C ends it and removes the folder.`);
      await ending;
    }
    return exitCode;
  } finally {
    if (interrupted.signal.aborted) timeline.print('\nending what was started …');
    for (const step of cleanUp.toReversed()) {
      // One step that fails must not keep the others from ending what was started.
      await step().catch((error: unknown) => timeline.print(`while ending: ${describeFailure(error)}`));
    }
  }
}

async function play(options: {
  readonly stage: Stage;
  readonly timeline: Timeline;
  readonly isJson: boolean;
  readonly cleanUp: (() => Promise<void>)[];
  readonly signal: AbortSignal;
}): Promise<number> {
  const { stage, timeline, cleanUp, signal } = options;
  makeJob({ workspace: stage.workspace, script: stage.script });
  timeline.say('a repository whose tests fail is made; starting a Temporal server');
  const server = await startDevServer({ ui: true, onProgress: (line) => timeline.say(line) });
  // Before the stage is cleared: cleaned up in reverse order, so the server goes last but for the folder.
  cleanUp.splice(0, 0, () => server.stop());
  const store = await openStore(stage.storeUrl);
  cleanUp.push(() => store.close());
  const temporal = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: server.namespace };
  const scene: Scene = { stage, timeline, server, store, temporal };
  timeline.say(`Temporal server at ${server.address} (${server.source})`);
  signal.throwIfAborted();

  const agent = await stage.startAgent();
  timeline.say(`agent is up (pid ${agent.pid})`);
  const [worker, turnWorker] = await Promise.all([stage.startExecuteWorker(temporal), stage.startTurnWorker(temporal)]);
  timeline.say(`execute worker (pid ${worker.pid}) and turn worker (pid ${turnWorker.pid}) are up`);
  signal.throwIfAborted();

  const { client, handle } = await begin(scene);
  // Not while the turn's result is still waited for: that would be an error of its own.
  cleanUp.push(async () => (signal.aborted ? undefined : client.connection.close()));
  const kills = await watchAndKill(scene, { handle, worker, agent, signal });
  const result = await handle.result();
  timeline.say(`turn ${result.state} after ${result.steps} steps and ${result.calls} calls`);
  if (result.error !== undefined) timeline.print(`  ${result.error.code}: ${result.error.message}`);

  const lines = await prove({ store, chatId: CHAT, handle, runLog: stage.runLog });
  return report(scene, { state: result.state, lines, kills, isJson: options.isJson });
}

async function begin(scene: Scene): Promise<{ client: Client; handle: TurnHandle }> {
  const { stage, timeline, server, store } = scene;
  const agentClient = createAgentClient({ address: stage.agentAddress });
  const { agentId } = await agentClient.info({});
  await agentClient.close();
  await store.createChat({ chatId: CHAT, agentId });
  await store.enqueueUserMessage({ chatId: CHAT, clientMessageId: 'demo-1', text: USER_TEXT });
  const turn = await store.reserveNextTurn(CHAT);
  const client = await connectClient({ address: server.address, namespace: server.namespace });
  const handle = await startTurn(client, {
    taskQueue: TURN_TASK_QUEUE_DEFAULT,
    userText: USER_TEXT,
    input: {
      chatId: CHAT,
      turn,
      agentId,
      model: `scripted:${stage.script}`,
      timings: { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS },
    },
  });
  timeline.say(`user: ${USER_TEXT}`);
  if (server.uiUrl !== undefined) {
    const page = `${server.uiUrl}/namespaces/${server.namespace}/workflows/${encodeURIComponent(handle.workflowId)}`;
    timeline.print(`          watch it in the Temporal UI: ${page}`);
  }
  return { client, handle };
}

/** Tells what happens to each call, and does the two killings when their moment has come. */
async function watchAndKill(
  scene: Scene,
  cast: { readonly handle: TurnHandle; readonly worker: Piece; readonly agent: Piece; readonly signal: AbortSignal },
): Promise<Kills> {
  const { store, timeline } = scene;
  const kills: Kills = { workerKills: 0, agentKills: 0 };
  const told = new Map<string, string>();
  const done = cast.handle.result().then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([done, delay(POLL_MS, false)]))) {
    cast.signal.throwIfAborted();
    for (const call of await store.listCalls({ chatId: CHAT })) {
      const state = `${call.status} ${call.exitCode ?? ''}`;
      if (told.get(`call ${call.key}`) === state) continue;
      told.set(`call ${call.key}`, state);
      const exit = call.exitCode === undefined ? '' : `, exit ${call.exitCode}`;
      timeline.say(`  ${call.key}  ${call.status}${exit}${call.status === 'reserved' ? `: ${call.summary}` : ''}`);
    }
    for (const pending of readPendingActivities(await cast.handle.describe())) {
      const { heartbeat } = pending;
      if (heartbeat === undefined || pending.isOfEarlierAttempt) continue;
      const phase = `${heartbeat.phase}, attempt ${pending.attempt}`;
      if (told.get(pending.activityId) !== phase) {
        told.set(pending.activityId, phase);
        timeline.say(`  ${pending.activityId}  ${phase}${heartbeat.lastLine ? `: ${heartbeat.lastLine}` : ''}`);
      }
      const isAt = (kill: typeof WORKER_KILL | typeof AGENT_KILL): boolean =>
        heartbeat.key.endsWith(`-${kill.toolCallId}`) && kill.atLine.test(heartbeat.lastLine ?? '');
      if (kills.workerKills === 0 && isAt(WORKER_KILL)) {
        kills.workerKills += 1;
        await killWorker(scene, cast.worker, heartbeat.lastLine ?? '');
      }
      if (kills.agentKills === 0 && isAt(AGENT_KILL)) {
        kills.agentKills += 1;
        await killAgent(scene, cast.agent, heartbeat.lastLine ?? '');
      }
    }
  }
  return kills;
}

async function killWorker({ stage, timeline, temporal }: Scene, worker: Piece, lastLine: string): Promise<void> {
  await worker.kill('SIGKILL');
  timeline.say(`✂ execute worker (pid ${worker.pid}) killed with SIGKILL at "${lastLine}"; starting another`);
  const next = await stage.startExecuteWorker(temporal);
  timeline.say(
    `  execute worker is up again (pid ${next.pid}); it attaches when the dead one's heartbeat has timed out`,
  );
}

async function killAgent({ stage, timeline }: Scene, agent: Piece, lastLine: string): Promise<void> {
  await agent.kill('SIGKILL');
  timeline.say(`✂ agent (pid ${agent.pid}) killed with SIGKILL at "${lastLine}"; the command runs on without it`);
  await delay(1500);
  const next = await stage.startAgent();
  timeline.say(`  agent is up again (pid ${next.pid}): ${next.readyLine.replace(/^.*; |\)$/g, '')}`);
}

function report(
  { timeline, stage }: Scene,
  end: {
    readonly state: string;
    readonly lines: readonly ProofLine[];
    readonly kills: Kills;
    readonly isJson: boolean;
  },
): number {
  const { lines, kills } = end;
  const faults = lines.flatMap((line) => line.faults.map((fault) => `${line.key} ${fault}`));
  if (end.state !== 'completed') faults.push(`the turn ended as ${end.state}`);
  if (kills.workerKills !== 1) faults.push(`the worker was killed ${kills.workerKills} times`);
  if (kills.agentKills !== 1) faults.push(`the agent was killed ${kills.agentKills} times`);

  timeline.print("\nThe proof: lines in the run log, attempts in Temporal's history, exit codes");
  const width = Math.max(3, ...lines.map((line) => line.key.length));
  timeline.print(`  ${'key'.padEnd(width)}  runs  attempts  result`);
  for (const line of lines) {
    const counts = `${String(line.runs).padStart(4)}  ${String(line.attempts).padStart(8)}`;
    const result = `${line.status}${line.exitCode === undefined ? '' : ` ${line.exitCode}`}`;
    timeline.print(
      `  ${line.key.padEnd(width)}  ${counts}  ${result}${line.faults.length > 0 ? `  ✗ ${line.faults.join(', ')}` : ''}`,
    );
  }
  timeline.print(
    faults.length === 0
      ? '\nOne worker and one agent were killed; every command ran once, and every result came through.'
      : `\n${faults.length} violations:\n  ${faults.join('\n  ')}\nWhat the pieces said: ${stage.log}`,
  );
  if (end.isJson) {
    const runs = Object.fromEntries(lines.map((line) => [line.key, line.runs]));
    const json = { turn: end.state, calls: lines.length, runs, ...kills, violations: faults.length };
    process.stdout.write(`${JSON.stringify(json)}\n`);
  }
  return faults.length === 0 ? 0 : 1;
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

try {
  const exitCode = await main();
  // Everything is ended; what an interrupted run still waits for would only come back as an error.
  if (exitCode === INTERRUPTED) process.exit(exitCode);
  process.exitCode = exitCode;
} catch (error) {
  process.stderr.write(`demo: ${describeFailure(error)}\n`);
  process.exitCode = 1;
}
