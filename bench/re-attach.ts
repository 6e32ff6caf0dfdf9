/** How long a running command is without an attempt when its worker goes, with a second worker polling. */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnHandle } from '../client/start-turn.ts';
import { toMs } from './histories.ts';
import type { Piece } from './piece.ts';
import { beginTurn, endOfTurn, executeCall, newChat } from './run-turn.ts';
import type { Stage } from './stage.ts';
import { inRounds, summarize } from './statistics.ts';
import type { Figure } from './statistics.ts';

export interface ReAttach {
  readonly heartbeatTimeoutMs: number;
  /** From the signal to the start of the attempt that attaches. */
  readonly killMs: Figure;
  readonly termMs: Figure;
}

const HEARTBEAT_TIMEOUT_MS = 3000;
/** So that the last beat before the signal is not always equally old. */
const AGES_MS = [700, 1100, 1500];
const LOOK_EVERY_MS = 5;
const LOOK_MS_MAX = 60_000;

export async function measureReAttach(stage: Stage, { rounds }: { readonly rounds: number }): Promise<ReAttach> {
  const workers = [stage.executeWorker];
  const killMs: number[] = [];
  const termMs: number[] = [];
  let count = 0;
  const way = (signal: NodeJS.Signals, samples: number[]) => async () => {
    // Two of them: the one that has the call is ended, the other one takes over.
    while (workers.length < 2) workers.push(await stage.startExecuteWorker());
    count += 1;
    samples.push(await signalWorker(stage, { workers, signal, number: count }));
  };
  await inRounds(rounds, [way('SIGKILL', killMs), way('SIGTERM', termMs)]);
  return { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS, killMs: summarize(killMs), termMs: summarize(termMs) };
}

async function signalWorker(
  stage: Stage,
  round: { readonly workers: Piece[]; readonly signal: NodeJS.Signals; readonly number: number },
): Promise<number> {
  const { workers, signal, number } = round;
  const end = stage.path(`end-${number}`);
  const command = `until [ -e '${end}' ]; do sleep 0.05; done`;
  const script = stage.writeScript(`re-attach-${number}.json`, {
    steps: [{ calls: [executeCall('wait', command)] }, { text: 'Done.' }],
  });
  const timings = { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS };
  const handle = await beginTurn(stage, { chatId: await newChat(stage), script, timings });
  try {
    const first = await findAttempt(handle, 1);
    await delay(AGES_MS[number % AGES_MS.length] ?? 0);
    const index = workers.findIndex(({ pid }) => first.workerIdentity.endsWith(`/${pid}`));
    const [worker] = index < 0 ? [] : workers.splice(index, 1);
    if (worker === undefined) throw new Error(`no worker of ours has the call, but ${first.workerIdentity}`);
    const signalledAtMs = Date.now();
    void worker.end(signal);
    const { startedAtMs } = await findAttempt(handle, 2);
    return startedAtMs - signalledAtMs;
  } finally {
    writeFileSync(end, '');
    await endOfTurn(handle, 1);
  }
}

/** Waits until this attempt, or a later one, has been started. */
async function findAttempt(
  handle: TurnHandle,
  attempt: number,
): Promise<{ startedAtMs: number; workerIdentity: string }> {
  const deadlineMs = performance.now() + LOOK_MS_MAX;
  while (performance.now() < deadlineMs) {
    const { raw } = await handle.describe();
    const call = (raw.pendingActivities ?? []).find(({ activityType }) => activityType?.name === 'execute');
    // Not started, it shows the attempt that comes next.
    if (call?.lastStartedTime && (call.attempt ?? 1) >= attempt && Number(call.state) === STARTED) {
      return { startedAtMs: toMs(call.lastStartedTime), workerIdentity: call.lastWorkerIdentity ?? '' };
    }
    await delay(LOOK_EVERY_MS);
  }
  throw new Error(`no attempt ${attempt} of the call was started within ${LOOK_MS_MAX / 1000} s`);
}

/** The protocol's number for a pending activity that a worker has; its enum is in a package that only the SDK depends on. */
const STARTED = 2;
