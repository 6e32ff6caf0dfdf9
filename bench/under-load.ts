/** Re-attaching and interrupting while many commands run, of which each has an attempt that beats. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnHandle } from '../client/start-turn.ts';
import { CALLS_SIDE_BY_SIDE_MAX } from '../contract/limits.ts';
import { INTERRUPT_UPDATE } from '../contract/names.ts';
import type { InterruptAnswer, InterruptRequest } from '../contract/operator.ts';
import { toMs } from './histories.ts';
import { beginTurn, endOfTurn, newChat } from './run-turn.ts';
import type { Stage } from './stage.ts';
import { inRounds, summarize } from './statistics.ts';
import type { Figure } from './statistics.ts';

export interface UnderLoad {
  readonly runningCalls: number;
  readonly heartbeatTimeoutMs: number;
  /** Of each running call: from the signal to the start of the attempt that attaches, another worker polling. */
  readonly reAttachKillMs: Figure;
  readonly reAttachTermMs: Figure;
  /** From the update to the end of a turn with one more running command, which is killed by it. */
  readonly interruptMs: Figure;
}

export interface Load {
  /** Commands that run; whole turns of eight. */
  readonly calls: number;
  readonly rounds: number;
  readonly interrupts: number;
}

const HEARTBEAT_TIMEOUT_MS = 3000;
const LOOK_EVERY_MS = 10;
const LOOK_MS_MAX = 120_000;
/** `PENDING_ACTIVITY_STATE_STARTED`. */
const STARTED = 2;
/** All have beaten by then, so that none is measured in its first moment. */
const BEATEN_MS = 1500;

interface RunningTurn {
  readonly handle: TurnHandle;
  readonly calls: number;
}

export async function measureUnderLoad(stage: Stage, load: Load, say: (line: string) => void): Promise<UnderLoad> {
  const killMs: number[] = [];
  const termMs: number[] = [];
  let worker = stage.executeWorker;
  let count = 0;
  const way = (signal: NodeJS.Signals, samples: number[]) => async () => {
    count += 1;
    say(`${load.calls} calls run, then their worker gets ${signal}`);
    const end = stage.path(`load-end-${count}`);
    const turns = await startTurns(stage, load.calls, end);
    const next = await stage.startExecuteWorker();
    await delay(BEATEN_MS);
    const signalledAtMs = Date.now();
    void worker.end(signal);
    worker = next;
    for (const startedAtMs of await attemptsStarted(turns, 2)) samples.push(startedAtMs - signalledAtMs);
    writeFileSync(end, '');
    await Promise.all(turns.map(({ handle, calls }) => endOfTurn(handle, calls)));
  };
  await inRounds(load.rounds, [way('SIGKILL', killMs), way('SIGTERM', termMs)]);
  say(`${load.interrupts} interrupts beside ${load.calls} running calls`);
  return {
    runningCalls: load.calls,
    heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
    reAttachKillMs: summarize(killMs),
    reAttachTermMs: summarize(termMs),
    interruptMs: summarize(await interruptTurns(stage, load)),
  };
}

async function startTurns(stage: Stage, count: number, end: string): Promise<RunningTurn[]> {
  const command = `until [ -e '${end}' ]; do sleep 0.5; done`;
  const timings = { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS };
  const turns: RunningTurn[] = [];
  for (let left = count; left > 0; left -= CALLS_SIDE_BY_SIDE_MAX) {
    const calls = Math.min(left, CALLS_SIDE_BY_SIDE_MAX);
    const asked = Array.from({ length: calls }, (_, index) => waitCall(`wait-${index}`, command));
    const script = stage.writeScript(`${basename(end)}-${calls}.json`, {
      steps: [{ calls: asked }, { text: 'Done.' }],
    });
    turns.push({ handle: await beginTurn(stage, { chatId: await newChat(stage), script, timings }), calls });
  }
  await attemptsStarted(turns, 1);
  return turns;
}

/** With a budget that outlasts the bench. */
function waitCall(id: string, command: string): object {
  return { id, name: 'execute', arguments: { command, timeout_seconds: 3600 } };
}

/** When each call's attempt of this number, or a later one, was started; waits until all were. */
async function attemptsStarted(turns: readonly RunningTurn[], attempt: number): Promise<number[]> {
  const found = await Promise.all(
    turns.map(async ({ handle, calls }) => {
      const deadlineMs = performance.now() + LOOK_MS_MAX;
      while (performance.now() < deadlineMs) {
        const { raw } = await handle.describe();
        const started = (raw.pendingActivities ?? []).filter(
          (activity) =>
            activity.activityType?.name === 'execute' &&
            Number(activity.state) === STARTED &&
            (activity.attempt ?? 1) >= attempt,
        );
        if (started.length === calls) return started.map(({ lastStartedTime }) => toMs(lastStartedTime));
        await delay(LOOK_EVERY_MS);
      }
      throw new Error(`not all of ${calls} calls had attempt ${attempt} within ${LOOK_MS_MAX / 1000} s`);
    }),
  );
  return found.flat();
}

/** One after the other, while the others run on. */
async function interruptTurns(stage: Stage, { calls, interrupts }: Load): Promise<number[]> {
  const end = stage.path('load-end-interrupts');
  const turns = await startTurns(stage, calls, end);
  const samples: number[] = [];
  for (let number = 0; number < interrupts; number++) {
    const [one] = await startTurns(stage, 1, stage.path(`load-never-${number}`));
    if (one === undefined) throw new Error('a turn of one call is one turn');
    const askedAtMs = performance.now();
    await one.handle.executeUpdate<InterruptAnswer, [InterruptRequest]>(INTERRUPT_UPDATE, { args: [{ who: 'bench' }] });
    const { state } = await one.handle.result();
    if (state !== 'interrupted') throw new Error(`an interrupted turn ended as ${state}`);
    samples.push(performance.now() - askedAtMs);
  }
  writeFileSync(end, '');
  await Promise.all(turns.map(({ handle, calls: expected }) => endOfTurn(handle, expected)));
  return samples;
}
