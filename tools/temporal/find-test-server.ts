import type { Environment } from './cache-folder.ts';
import { sdkDownload } from './sdk-download.ts';
import { searchSources, type ServerSource } from './server-source.ts';
import { testServerWheel } from './test-server-wheel.ts';

const TEST_SERVER_SOURCES: readonly ServerSource[] = [sdkDownload('time-skipping'), testServerWheel];

/**
 * The executable of the time-skipping test server, or why there is none here: the reason to skip a test with. It goes to
 * `TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: 'existing-path', path } } })`: one server
 * for each test file, because its time is one for all and a stuck workflow stops the skipping for everybody.
 */
export async function findTestServer(
  { env = process.env, onProgress = () => undefined }: { env?: Environment; onProgress?: (line: string) => void } = {},
  sources: readonly ServerSource[] = TEST_SERVER_SOURCES,
): Promise<{ readonly path: string } | { readonly skipReason: string }> {
  const end = await searchSources(sources, { env, onProgress });
  if (end.found !== undefined) return { path: end.found.path };
  const reasons = end.reasons.map(({ source, reason }) => `${source}: ${reason}`).join('; ');
  return { skipReason: `no time-skipping Temporal test server here (${reasons})` };
}
