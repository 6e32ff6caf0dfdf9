import { CodedError } from '../../contract/failures.ts';
import { checkServerVersion } from './check-server-version.ts';
import { findOnPath, isExecutableFile } from './find-on-path.ts';
import type { ServerSource } from './server-source.ts';

/** `TEMPORAL_CLI`: somebody chose it, so a wrong one is an error and not a reason to take another in silence. */
export const chosenCli: ServerSource = {
  name: 'TEMPORAL_CLI',
  async look(context) {
    const chosen = context.env['TEMPORAL_CLI'];
    if (chosen === undefined || chosen === '') return { reason: 'not set' };
    const answer = (await isExecutableFile(chosen))
      ? await checkServerVersion(chosen, context)
      : { reason: `${chosen} is not an executable file` };
    if ('path' in answer) return answer;
    throw new CodedError(
      'configuration',
      `TEMPORAL_CLI can't be used: ${answer.reason}. Correct it, or unset it to let another server be found.`,
      'TEMPORAL_CLI',
    );
  },
};

export const cliOnPath: ServerSource = {
  name: '`temporal` on PATH',
  async look(context) {
    const path = await findOnPath('temporal', context.env);
    return path === undefined ? { reason: 'not there' } : checkServerVersion(path, context);
  },
};
