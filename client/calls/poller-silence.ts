/** After how long without a poll a worker counts as gone: the same setting as the execute worker's own. */
import { CodedError } from '../../contract/failures.ts';
import { POLLER_SILENCE_MS_DEFAULT } from '../../contract/limits.ts';

const VARIABLE = 'LATCHKEY_POLLER_SILENCE_MS';

export function readPollerSilenceMs(env: NodeJS.ProcessEnv): number {
  const given = env[VARIABLE];
  if (given === undefined || given === '') return POLLER_SILENCE_MS_DEFAULT;
  if (/^[1-9][0-9]{0,8}$/.test(given)) return Number(given);
  throw new CodedError('configuration', `${VARIABLE} is "${given}": must be a positive whole number.`, VARIABLE);
}
