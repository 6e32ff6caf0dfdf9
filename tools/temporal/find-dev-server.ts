import { CodedError } from '../../contract/failures.ts';
import { goBuild } from './go-build.ts';
import { chosenCli, cliOnPath } from './installed-cli.ts';
import { sdkDownload } from './sdk-download.ts';
import { searchSources, type FoundServer, type ServerSource, type SourceContext } from './server-source.ts';

/** In the order in which they are asked. */
export const DEV_SERVER_SOURCES: readonly ServerSource[] = [chosenCli, cliOnPath, sdkDownload('dev-server'), goBuild];

/**
 * The executable of a Temporal dev server (design 8). `TEMPORAL_ADDRESS` comes before all of these and needs none.
 * Throws `temporal_unreachable` with the reason of every way when there is no way.
 */
export async function findDevServer(
  context: SourceContext,
  sources: readonly ServerSource[] = DEV_SERVER_SOURCES,
): Promise<FoundServer> {
  const end = await searchSources(sources, context);
  if (end.found !== undefined) return end.found;
  const ways = [{ source: 'TEMPORAL_ADDRESS', reason: 'not set' }, ...end.reasons];
  const list = ways.map(({ source, reason }, index) => `  ${index + 1}. ${source}: ${reason}`).join('\n');
  throw new CodedError(
    'temporal_unreachable',
    `No Temporal server is known, and no dev server could be found, downloaded or built:\n${list}\n` +
      'Set TEMPORAL_ADDRESS to a server that runs, or TEMPORAL_CLI to a `temporal` command line; ' +
      'or install Go 1.25 or newer, so that one can be built here.',
    'TEMPORAL_ADDRESS',
  );
}
