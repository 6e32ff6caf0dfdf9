import type { DevServerRequest } from './dev-server.ts';
import { searchAttributeFlags } from './search-attributes.ts';

/** Lifts the default of 20 polls a second, which makes each step of a workflow cost 90 ms in place of 25. */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'frontend.enableUpdateWorkflowExecution=true',
  // A build whose last turn has ended is drained after a second in place of minutes (`latchkey deploy`): visibility
  // here lags by milliseconds.
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod="1s"',
  'matching.wv.VersionDrainageStatusRefreshInterval="1s"',
] as const;

export interface Ports {
  readonly port: number;
  readonly uiPort: number | undefined;
}

export function devServerArguments(request: DevServerRequest, { port, uiPort }: Ports): string[] {
  const args = 'server start-dev --ip 127.0.0.1 --log-format pretty --log-level warn'.split(' ');
  args.push('--port', String(port));
  args.push(...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]));
  if (request.namespace !== undefined) args.push('--namespace', request.namespace);
  for (const setting of DYNAMIC_CONFIG) args.push('--dynamic-config-value', setting);
  args.push(...searchAttributeFlags());
  if (request.dbFile !== undefined) {
    // WAL with a sync per commit: what was acknowledged survives a SIGKILL, in 60 % of the default mode's time.
    args.push('--db-filename', request.dbFile);
    args.push('--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=2');
  }
  return args;
}
