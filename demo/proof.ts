/** Checks what the demo claims, from the run log, the store and Temporal's history. */
import { readFileSync } from 'node:fs';
import { splitExecutionKey } from '../contract/execution-key.ts';
import type { TurnHandle } from '../client/start-turn.ts';
import type { Store } from '../store/store.ts';
import type { ChatId } from '../contract/ids.ts';
import { AGENT_KILL, EXPECTED_EXIT, WORKER_KILL } from './job.ts';

export interface ProofLine {
  readonly key: string;
  readonly runs: number;
  readonly attempts: number;
  readonly status: string;
  readonly exitCode: number | undefined;
  readonly faults: readonly string[];
}

/** One line a call. Whatever isn't as promised is a fault, in words. */
export async function prove(options: {
  readonly store: Store;
  readonly chatId: ChatId;
  readonly handle: TurnHandle;
  readonly runLog: string;
}): Promise<ProofLine[]> {
  const logged = readFileSync(options.runLog, 'utf8').split('\n');
  const attempts = await readAttempts(options.handle);
  const calls = await options.store.listCalls({ chatId: options.chatId });
  return calls.map((call) => {
    const { toolCallId } = splitExecutionKey(call.key);
    const runs = logged.filter((line) => line === toolCallId).length;
    const line = {
      key: call.key,
      runs,
      attempts: attempts.get(call.key) ?? 0,
      status: call.status,
      exitCode: call.outcome?.exit?.code,
    };
    const faults: string[] = [];
    if (runs !== 1) faults.push(`ran ${runs} times`);
    if (call.status !== 'exited') faults.push(`ended as ${call.status}`);
    if (line.exitCode !== EXPECTED_EXIT[toolCallId])
      faults.push(`exit ${line.exitCode}, not ${EXPECTED_EXIT[toolCallId]}`);
    if (toolCallId === WORKER_KILL.toolCallId && line.attempts < 2)
      faults.push('the worker was killed, yet one attempt');
    if (toolCallId === AGENT_KILL.toolCallId && line.attempts !== 1) faults.push('an agent restart took a new attempt');
    return { ...line, faults };
  });
}

/** How often Temporal started each execute activity. */
async function readAttempts(handle: TurnHandle): Promise<Map<string, number>> {
  const { events } = await handle.fetchHistory();
  const keys = new Map<string, string>();
  const attempts = new Map<string, number>();
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const started = event.activityTaskStartedEventAttributes;
    if (scheduled?.activityId) keys.set(String(event.eventId), scheduled.activityId);
    if (started) attempts.set(keys.get(String(started.scheduledEventId)) ?? '', started.attempt ?? 1);
  }
  return attempts;
}
