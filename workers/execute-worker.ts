/** The execute worker: `node workers/execute-worker.ts --agent unix:/path`. Runs beside its agent and owns nothing. */
import { Worker } from '@temporalio/worker';
import type { NativeConnection } from '@temporalio/worker';
import { createAgentClient } from '../agent-client/agent-client.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { AgentError, AgentUnreachable } from '../agent-client/agent-errors.ts';
import { createControlActivities } from '../activities/control-activities.ts';
import { createExecuteActivities } from '../activities/execute.ts';
import type { AgentId } from '../contract/ids.ts';
import { controlTaskQueue, executeTaskQueue } from '../contract/names.ts';
import { connectWorker, loadConnection } from '../tools/temporal/connection.ts';
import { awaitAgent } from './await-agent.ts';
import { readExecuteWorkerConfiguration } from './configuration.ts';
import type { ExecuteWorkerConfiguration } from './configuration.ts';
import { pause } from './pause.ts';
import { executeWorkerIdentity, requireSoleIncarnation } from './require-sole-incarnation.ts';
import type { Machine } from './require-sole-incarnation.ts';
import { runProgram } from './run-program.ts';
import { createWorkerGroup } from './worker-group.ts';
import type { WorkerGroup } from './worker-group.ts';
import { commonWorkerOptions } from './worker-options.ts';

/** Short activities of one agent at once: interrupts, descriptions. */
const CONTROL_SLOTS = 20;
/** How soon a wiped or adopted agent's new queues are polled. */
const AGENT_LOOK_MS = 2000;

interface ExecuteWorker {
  readonly configuration: ExecuteWorkerConfiguration;
  readonly client: AgentClient;
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly group: WorkerGroup;
  readonly stopping: AbortSignal;
}

async function executeWorker(stopping: AbortSignal): Promise<void> {
  const configuration = readExecuteWorkerConfiguration({ env: process.env, args: process.argv.slice(2) });
  const { agentAddress: address, agentToken: token, temporalAddress, temporalNamespace } = configuration;
  const client = createAgentClient({ address, ...(token !== undefined && { token }) });
  const machine = await awaitAgent(client, { stopping, report });
  const request = {
    ...(temporalAddress !== undefined && { address: temporalAddress }),
    ...(temporalNamespace !== undefined && { namespace: temporalNamespace }),
  };
  const connection = await connectWorker(request);
  const { namespace } = loadConnection(request);
  const worker = { configuration, client, connection, namespace, group: createWorkerGroup(stopping), stopping };
  await poll(worker, machine);
  process.stdout.write(`ready: agent ${machine.agentId}\n`);
  const watching = watchAgent(worker, machine.agentId);
  await Promise.race([worker.group.ended, watching.then(() => worker.group.ended)]);
  await connection.close();
  await client.close();
}

/** Both queues of an agent; each with slots of its own, so that full execute slots can't hold up an interrupt (I04). */
async function poll(worker: ExecuteWorker, machine: Machine): Promise<void> {
  const { configuration, client, connection, namespace, group, stopping } = worker;
  const { pollerSilenceMs } = configuration;
  await requireSoleIncarnation(connection, { ...machine, namespace, stopping, report, pollerSilenceMs });
  const common = {
    ...commonWorkerOptions(configuration),
    connection,
    namespace,
    identity: executeWorkerIdentity(machine),
  };
  const execute = await Worker.create({
    ...common,
    taskQueue: executeTaskQueue(machine.agentId),
    activities: createExecuteActivities({ client }),
    maxConcurrentActivityTaskExecutions: configuration.executeSlots,
  });
  const control = await Worker.create({
    ...common,
    taskQueue: controlTaskQueue(machine.agentId),
    activities: createControlActivities({ client }),
    maxConcurrentActivityTaskExecutions: CONTROL_SLOTS,
  });
  group.add(execute);
  group.add(control);
}

/** The agent gets another id when it was wiped or adopted. The old queues are kept: calls of the old id end there. */
async function watchAgent(worker: ExecuteWorker, agentId: AgentId): Promise<void> {
  const polled = new Set([agentId]);
  while (!worker.stopping.aborted) {
    await pause(AGENT_LOOK_MS, worker.stopping).catch(() => undefined);
    const machine = await findAgent(worker.client);
    if (machine === undefined || polled.has(machine.agentId) || worker.stopping.aborted) continue;
    polled.add(machine.agentId);
    report(`the agent at ${worker.configuration.agentAddress} is now ${machine.agentId}; polling its queues too`);
    await poll(worker, machine).catch((error: unknown) => {
      if (!worker.stopping.aborted) throw error;
    });
  }
}

async function findAgent(client: AgentClient): Promise<Machine | undefined> {
  try {
    return await client.info({});
  } catch (error) {
    // Away for now; what runs is told by its own attempts.
    if (error instanceof AgentUnreachable || error instanceof AgentError) return undefined;
    throw error;
  }
}

function report(line: string): void {
  process.stderr.write(`execute worker: ${line}\n`);
}

if (import.meta.main) await runProgram('execute worker', executeWorker);
