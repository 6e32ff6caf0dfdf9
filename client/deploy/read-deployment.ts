/** The builds of a deployment: which is current, what still runs on each, and who works for it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { CodedError } from '../../contract/failures.ts';
import { POLLER_SILENCE_MS_DEFAULT } from '../../contract/limits.ts';

/** The protocol's number for the workflow half of a queue; its enum is in a package that only the SDK depends on. */
const WORKFLOW_QUEUE = 1;
/** The protocol's numbers of WorkerDeploymentVersionStatus, likewise. */
const STATES: Readonly<Record<number, BuildState>> = {
  1: 'inactive',
  2: 'current',
  3: 'ramping',
  4: 'draining',
  5: 'drained',
};
const STATE_NAMES = /^WORKER_DEPLOYMENT_VERSION_STATUS_(\w+)$/;
/** gRPC's status code, from its specification. */
const NOT_FOUND = 5;
const FOUND_MS_MAX = 1500;
const LOOK_MS = 100;

/**
 * `inactive`: never current. `draining`: current no more, with turns of its own. `drained`: the server has made sure that it has
 * none, so its workers may be ended.
 */
export type BuildState = 'inactive' | 'current' | 'ramping' | 'draining' | 'drained' | 'unknown';

export interface Build {
  readonly buildId: string;
  readonly state: BuildState;
  /** Runs that end on this build and on no other: turns. */
  readonly pinnedRuns: number;
  /** Runs that were on it last and move to the current build at their next task: settles, sweeps, chats. */
  readonly movingRuns: number;
  /** Workers that asked for its work within the last minute. */
  readonly workers: number;
  readonly createdAt: string;
}

export interface Deployment {
  readonly deployment: string;
  readonly builds: readonly Build[];
}

/** The name given, or that of the only deployment there is. Throws `configuration` when that isn't clear. */
export async function findDeploymentName(client: Client, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '') return given;
  const names: string[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkerDeployments({
      namespace: client.options.namespace,
      ...(nextPageToken !== undefined && { nextPageToken }),
    });
    names.push(...(page.workerDeployments ?? []).map(({ name }) => name ?? ''));
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined);
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return only;
  const reason =
    only === undefined
      ? 'no versioned turn worker has ever polled in this namespace: start one with LATCHKEY_DEPLOYMENT and LATCHKEY_BUILD_ID'
      : `there are ${names.length} deployments (${names.join(', ')}): give --deployment, or set LATCHKEY_DEPLOYMENT`;
  throw new CodedError('configuration', `${reason}.`, 'LATCHKEY_DEPLOYMENT');
}

/** Throws `configuration` when the server knows no such deployment. */
export async function readDeployment(client: Client, deployment: string): Promise<Deployment> {
  const { namespace } = client.options;
  const described = await untilFound(() =>
    client.workflowService.describeWorkerDeployment({ namespace, deploymentName: deployment }),
  ).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    const reason = `no worker of a deployment "${deployment}" has ever polled in namespace ${namespace}`;
    throw new CodedError('configuration', `${reason}: start one, or check LATCHKEY_DEPLOYMENT.`, 'LATCHKEY_DEPLOYMENT');
  });
  const summaries = described.workerDeploymentInfo?.versionSummaries ?? [];
  const builds = summaries.map(async ({ deploymentVersion, status, createTime }): Promise<Build> => {
    const buildId = deploymentVersion?.buildId ?? '';
    const [pinnedRuns, movingRuns, workers] = await Promise.all([
      countRuns(client, { deployment, buildId, behaviour: 'Pinned' }),
      countRuns(client, { deployment, buildId, behaviour: 'AutoUpgrade' }),
      countWorkers(client, { deployment, buildId }),
    ]);
    const createdAt = new Date(Number(createTime?.seconds ?? 0) * 1000).toISOString();
    return { buildId, state: stateOf(status), pinnedRuns, movingRuns, workers, createdAt };
  });
  return { deployment, builds: await Promise.all(builds) };
}

interface BuildName {
  readonly deployment: string;
  readonly buildId: string;
}

async function countRuns(
  client: Client,
  { deployment, buildId, behaviour }: BuildName & { readonly behaviour: string },
): Promise<number> {
  const query = [
    `TemporalWorkerDeploymentVersion = '${deployment}:${buildId}'`,
    `TemporalWorkflowVersioningBehavior = '${behaviour}'`,
    `ExecutionStatus = 'Running'`,
  ].join(' AND ');
  const { count } = await client.workflow.count(query);
  return count;
}

/** By who polls the queues that the build's workers have polled. */
async function countWorkers(client: Client, { deployment, buildId }: BuildName): Promise<number> {
  const { namespace } = client.options;
  const deploymentVersion = { deploymentName: deployment, buildId };
  const { workerDeploymentVersionInfo: info } = await untilFound(() =>
    client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion }),
  );
  const queues = new Set((info?.taskQueueInfos ?? []).map(({ name }) => name ?? ''));
  const identities = new Set<string>();
  for (const name of queues) {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name },
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      taskQueueType: WORKFLOW_QUEUE,
    });
    for (const { identity, deploymentOptions, lastAccessTime } of pollers ?? []) {
      const isOfBuild = deploymentOptions?.deploymentName === deployment && deploymentOptions.buildId === buildId;
      const silentMs = Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000;
      if (isOfBuild && silentMs < POLLER_SILENCE_MS_DEFAULT) identities.add(identity ?? '');
    }
  }
  return identities.size;
}

/** The server keeps these records in workflows of its own, and does not find one in the moment in which it continues as new. */
async function untilFound<Value>(ask: () => Promise<Value>): Promise<Value> {
  const deadlineMs = performance.now() + FOUND_MS_MAX;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isNotFound(error) || performance.now() >= deadlineMs) throw error;
      await delay(LOOK_MS);
    }
  }
}

function isNotFound(error: unknown): boolean {
  return (error as { code?: unknown }).code === NOT_FOUND;
}

/** The client gives the name or the number, depending on how it was decoded. */
function stateOf(status: unknown): BuildState {
  const name = STATE_NAMES.exec(String(status))?.[1]?.toLowerCase();
  const known = Object.values(STATES).find((state) => state === name);
  return known ?? STATES[Number(status)] ?? 'unknown';
}
