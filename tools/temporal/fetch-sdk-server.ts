/** Program: lets the SDK download a test server into a folder. Arguments: `dev-server` or `time-skipping`, folder. */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir] = process.argv.slice(2);
if ((kind !== 'dev-server' && kind !== 'time-skipping') || downloadDir === undefined) {
  throw new Error('usage: fetch-sdk-server dev-server|time-skipping FOLDER');
}

const server = { executable: { type: 'cached-download', downloadDir } } as const;
try {
  // The SDK offers no download by itself: a server is started and ended again.
  const environment =
    kind === 'dev-server'
      ? await TestWorkflowEnvironment.createLocal({ server })
      : await TestWorkflowEnvironment.createTimeSkipping({ server });
  await environment.teardown();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
