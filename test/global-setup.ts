import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startDevServer } from '../tools/temporal/dev-server.ts';
import { loadWorkflowBundle } from '../workers/workflow-bundle.ts';

/** One Temporal server and one workflow bundle for the whole run. Tests keep apart by task queue and workflow id. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'latchkey-test-run-'));
  const server = await startDevServer({ ui: true, onProgress: (line) => process.stderr.write(`${line}\n`) });
  const tearDown = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const workflowBundlePath = path.join(folder, 'workflow-bundle.js');
    await writeFile(workflowBundlePath, await loadWorkflowBundle());
    project.provide('temporalAddress', server.address);
    project.provide('temporalNamespace', server.namespace);
    project.provide('temporalUiUrl', server.uiUrl ?? '');
    project.provide('workflowBundlePath', workflowBundlePath);
  } catch (error) {
    await tearDown();
    throw error;
  }
  return tearDown;
}
