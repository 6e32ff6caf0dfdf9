/**
 * Two machines that share one agent id (a block clone, L17) must not both poll its queues. A worker's identity names
 * the incarnation beside which it runs; the server's list of pollers shows who is there.
 */
import type { NativeConnection } from '@temporalio/worker';
import { CodedError } from '../contract/failures.ts';
import type { AgentId, Incarnation } from '../contract/ids.ts';
import { controlTaskQueue, executeTaskQueue } from '../contract/names.ts';
import { pause } from './pause.ts';

const INCARNATION_CHARACTERS = 12;
/** The protocol's number for the activity half of a queue; its enum is in a package that only the SDK depends on. */
// oxlint-disable-next-line typescript/no-unsafe-enum-assignment
const ACTIVITY_QUEUE = 2 as TaskQueueType;
const LOOK_MS = 1000;
/** gRPC status codes: some API keys are good for polling only, and some servers don't know the question. */
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;

type DescribeTaskQueue = NativeConnection['workflowService']['describeTaskQueue'];
type TaskQueueType = NonNullable<Parameters<DescribeTaskQueue>[0]['taskQueueType']>;

export interface Machine {
  readonly agentId: AgentId;
  readonly incarnation: Incarnation;
}

interface Lookout extends Machine {
  readonly namespace: string;
  readonly stopping: AbortSignal;
  readonly report: (line: string) => void;
  /** A poller that was silent for so long is gone; one that polls while we watch is there. */
  readonly pollerSilenceMs: number;
}

export function executeWorkerIdentity({ agentId, incarnation }: Machine): string {
  return `execute@${agentId}/${incarnation.slice(0, INCARNATION_CHARACTERS)}/${process.pid}`;
}

/** Resolves when no other incarnation polls the agent's queues; refuses (`configuration`) when one does. */
export async function requireSoleIncarnation(connection: NativeConnection, options: Lookout): Promise<void> {
  const { agentId, stopping, report, pollerSilenceMs } = options;
  const queues = [executeTaskQueue(agentId), controlTaskQueue(agentId)];
  const firstSeen = new Map<string, number>();
  let hasReported = false;
  for (;;) {
    const pollers = await Promise.all(queues.map((queue) => listForeignPollers(connection, queue, options)));
    const recent = pollers.flat().filter(({ agoMs }) => agoMs <= pollerSilenceMs);
    for (const { identity, lastAccessMs } of recent) {
      const before = firstSeen.get(identity);
      if (before !== undefined && lastAccessMs > before) throw sharedAgent(agentId, identity);
      if (before === undefined) firstSeen.set(identity, lastAccessMs);
    }
    const [first] = recent;
    if (first === undefined) return;
    if (!hasReported) {
      const seconds = Math.ceil((pollerSilenceMs - first.agoMs) / 1000);
      report(
        `${first.identity} polled for this agent before the machine's last start, or on another machine; waiting up to ${seconds} s to see whether it is gone`,
      );
      hasReported = true;
    }
    await pause(LOOK_MS, stopping);
  }
}

async function listForeignPollers(connection: NativeConnection, queue: string, options: Lookout) {
  const { agentId, incarnation, namespace, report } = options;
  const { pollers } = await connection.workflowService
    .describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType: ACTIVITY_QUEUE })
    .catch((error: unknown) => {
      const { code } = error as { code?: unknown };
      if (code !== PERMISSION_DENIED && code !== UNIMPLEMENTED) throw error;
      report(`can't see who else polls ${queue}, so a second machine with the same agent would not be noticed`);
      return { pollers: [] };
    });
  const ours = `execute@${agentId}/${incarnation.slice(0, INCARNATION_CHARACTERS)}/`;
  return (pollers ?? [])
    .filter(({ identity }) => identity?.startsWith(`execute@${agentId}/`) && !identity.startsWith(ours))
    .map(({ identity, lastAccessTime }) => {
      const lastAccessMs = Number(lastAccessTime?.seconds ?? 0) * 1000 + (lastAccessTime?.nanos ?? 0) / 1e6;
      return { identity: `${queue}: ${identity}`, lastAccessMs, agoMs: Date.now() - lastAccessMs };
    });
}

function sharedAgent(agentId: AgentId, identity: string): CodedError {
  return new CodedError(
    'configuration',
    `two machines share one agent: ${identity} polls for agent ${agentId} too. ` +
      'Run `latchkey agent adopt` on the copy, then start its worker again.',
  );
}
