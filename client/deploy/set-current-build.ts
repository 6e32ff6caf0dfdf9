/** Makes a build current: new turns begin on it, and what may move (settles, sweeps, chats) goes on there. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { CodedError } from '../../contract/failures.ts';

/** A build, its deployment and its queues are known to the server a moment after its worker has said that it is ready. */
const KNOWN_MS_MAX = 10_000;
const LOOK_MS = 250;
/** gRPC status codes, from its specification. */
const NOT_FOUND = 5;
const FAILED_PRECONDITION = 9;

export interface SetCurrentBuild {
  readonly deployment: string;
  /** Undefined: back to workers that are not versioned. */
  readonly buildId: string | undefined;
  readonly force: boolean;
}

/** Gives the build that was current before. Throws `configuration` where the server refuses, with its reason. */
export async function setCurrentBuild(
  client: Client,
  { deployment, buildId, force }: SetCurrentBuild,
): Promise<string | undefined> {
  const deadlineMs = performance.now() + KNOWN_MS_MAX;
  for (;;) {
    try {
      const { previousDeploymentVersion } = await client.workflowService.setWorkerDeploymentCurrentVersion({
        namespace: client.options.namespace,
        deploymentName: deployment,
        buildId: buildId ?? '',
        identity: 'latchkey deploy',
        // Without it the server refuses a build whose workers don't poll every queue that the current one has.
        ignoreMissingTaskQueues: force,
      });
      return previousDeploymentVersion?.buildId ?? undefined;
    } catch (error) {
      const { code, details } = error as { code?: unknown; details?: unknown };
      if (code !== NOT_FOUND && code !== FAILED_PRECONDITION) throw error;
      if (performance.now() < deadlineMs) {
        await delay(LOOK_MS);
        continue;
      }
      const build = buildId === undefined ? 'unversioned workers' : `build ${buildId}`;
      const reason = `${build} can't be made current in deployment ${deployment}: the server says "${String(details)}"`;
      const step = 'Is a turn worker of this build up? latchkey deploy lists the builds that are known';
      throw new CodedError('configuration', `${reason}. ${step}.`, 'LATCHKEY_BUILD_ID');
    }
  }
}
