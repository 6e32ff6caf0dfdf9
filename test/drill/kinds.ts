/** The eight kinds of stuck call: how each is made, what must be said of it, and the documented step that settles it. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { StuckCode } from '../../client/calls/find-stuck-reason.ts';
import { readPendingActivities } from '../../client/watch/pending-activities.ts';
import { executeTaskQueue, INTERRUPT_UPDATE } from '../../contract/names.ts';
import type { InterruptRequest } from '../../contract/operator.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import type { BrokenSystem, HeldCall } from './broken-system.ts';
import { holdReader } from './hold-reader.ts';

export interface Kind {
  readonly code: StuckCode;
  readonly made: string;
  /** As docs/operations.md has it under the cause, but for its placeholders. */
  readonly step: string;
  /** `late`: it is shown as such only for a while, so it is made when the others show. */
  readonly isLate?: boolean;
  readonly timeoutSeconds?: number;
  /** What its row must hold in the end. */
  readonly end: string;
  make(system: BrokenSystem, call: HeldCall): Promise<void>;
  settle(system: BrokenSystem, call: HeldCall): Promise<void>;
}

const WHY = ['--why', 'a drill', '--who', 'Ann'];

/** In the order in which they are settled: first what would end by itself. */
export const KINDS: readonly Kind[] = [
  {
    code: 'past_budget',
    made: 'its command ends, but the reader of its output hangs',
    step: 'latchkey call resolve KEY --chat CHAT --unknown --why "…"',
    isLate: true,
    timeoutSeconds: 4,
    end: 'exited 3 by exit',
    make: async (system, call) => {
      const letGo = await holdReader(call.place.stage.root, `go-${call.name}`);
      system.cleanUp.push(letGo);
      call.openGate();
    },
    settle: async (system, call) => {
      // 1: the agent's word won over the person's.
      await resolveAsUnknown(system, call, 1);
    },
  },
  {
    code: 'heartbeat_overdue',
    made: 'its execute worker is frozen (SIGSTOP)',
    step: 'kill -KILL PID',
    isLate: true,
    end: 'exited 3 by exit',
    make: async (_, call) => {
      await waitUntil('its attempt has been heard', async () => {
        const [activity] = readPendingActivities(await call.handle.describe());
        return activity?.heartbeat?.handle !== undefined;
      });
      process.kill(call.place.worker.pid, 'SIGSTOP');
    },
    settle: async (system, call) => {
      await call.place.worker.kill('SIGKILL');
      await startWorker(system, call);
    },
  },
  {
    code: 'attempts_rising',
    made: "another program polls its agent's queue",
    step: 'npx node workers/execute-worker.ts',
    end: 'exited 3 by exit',
    make: async (system, { place }) => {
      await place.worker.kill('SIGTERM');
      const end = await startWrongWorker(system, executeTaskQueue(place.agentId));
      system.cleanUp.push(end);
      wrongWorkers.set(place.agentId, end);
    },
    settle: async (system, call) => {
      await wrongWorkers.get(call.place.agentId)?.();
      await startWorker(system, call);
    },
  },
  {
    code: 'cancel_requested',
    made: 'its agent is killed, then its turn interrupted',
    step: 'latchkey call resolve KEY --chat CHAT --unknown --why "…"',
    end: 'unknown by operator',
    make: async (_, call) => {
      await call.place.agent.kill('SIGKILL');
      await interrupt(call);
    },
    settle: (system, call) => resolveAsUnknown(system, call, 0),
  },
  {
    code: 'agent_unreachable',
    made: 'its agent is killed',
    step: 'latchkey agent',
    end: 'exited 3 by exit',
    make: (_, call) => call.place.agent.kill('SIGKILL'),
    settle: async (_, call) => {
      call.place.agent = await call.place.stage.startAgent();
      call.openGate();
    },
  },
  {
    code: 'no_worker',
    made: 'its execute worker is killed',
    step: 'npx node workers/execute-worker.ts',
    end: 'exited 3 by exit',
    make: (_, { place }) => place.worker.kill('SIGKILL'),
    settle: startWorker,
  },
  {
    code: 'paused',
    made: 'its activity is paused',
    step: 'temporal activity unpause --workflow-id',
    end: 'exited 3 by exit',
    make: async (system, call) => {
      await system.client.workflowService.pauseActivity(await activityOf(system, call));
    },
    settle: async (system, call) => {
      await system.client.workflowService.unpauseActivity(await activityOf(system, call));
      call.openGate();
    },
  },
  {
    code: 'agent_retired',
    made: 'its agent is killed and retired, then its turn interrupted',
    step: 'latchkey agent retire AGENT --why "…"',
    end: 'unknown by operator',
    make: async (system, call) => {
      await call.place.agent.kill('SIGKILL');
      await retire(system, call, 'no call waited for it');
      await interrupt(call);
    },
    settle: (system, call) => retire(system, call, 'ended the wait for 1'),
  },
];

const wrongWorkers = new Map<string, () => Promise<void>>();

async function startWorker(system: BrokenSystem, call: HeldCall): Promise<void> {
  call.place.worker = await call.place.stage.startExecuteWorker(system.temporal);
  call.openGate();
}

/** It knows no `execute`, so each attempt that it takes fails at once. */
async function startWrongWorker({ temporal }: BrokenSystem, taskQueue: string): Promise<() => Promise<void>> {
  // It would tell of each failure at length; what is to be seen is what the operator sees.
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR', () => undefined) });
  const connection = await NativeConnection.connect({ address: temporal['TEMPORAL_ADDRESS'] ?? '' });
  const namespace = temporal['TEMPORAL_NAMESPACE'] ?? 'default';
  const worker = await Worker.create({ connection, namespace, taskQueue, activities: { greet: async () => 'hello' } });
  const running = worker.run();
  let ended: Promise<void> | undefined;
  return () => {
    ended ??= (async () => {
      worker.shutdown();
      await running;
      await connection.close();
    })();
    return ended;
  };
}

async function interrupt({ handle }: HeldCall): Promise<void> {
  await handle.executeUpdate<unknown, [InterruptRequest]>(INTERRUPT_UPDATE, { args: [{ who: 'Ann' }] });
  await handle.result();
}

async function activityOf({ client }: BrokenSystem, { handle, row }: HeldCall) {
  const { key } = await row();
  const execution = { workflowId: handle.workflowId };
  return { namespace: client.options.namespace, execution, id: key, identity: 'the drill' };
}

async function resolveAsUnknown(system: BrokenSystem, { row, chatId }: HeldCall, exitCode: number): Promise<void> {
  const { key } = await row();
  const said = await system.latchkey('call', 'resolve', key, '--chat', chatId, '--unknown', ...WHY);
  if (said.exitCode !== exitCode) throw new Error(`latchkey call resolve: ${said.output}${said.errors}`);
}

async function retire(system: BrokenSystem, { place }: HeldCall, answer: string): Promise<void> {
  const { output, errors } = await system.latchkey('agent', 'retire', place.agentId, ...WHY);
  if (!output.includes(answer)) throw new Error(`latchkey agent retire did not say "${answer}": ${output}${errors}`);
}
