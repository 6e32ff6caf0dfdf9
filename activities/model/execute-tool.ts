import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import {
  COMMAND_BYTES_MAX,
  PRESENTED_HEAD_BYTES,
  PRESENTED_LINE_BYTES_MAX,
  PRESENTED_TAIL_BYTES,
  TIMEOUT_SECONDS_DEFAULT,
  TIMEOUT_SECONDS_MAX,
} from '../../contract/limits.ts';

const KIB = 1024;

/** What holds for every command, since a model can know it from nowhere else. */
const RULES = [
  'Runs a shell command with `bash -c` in the workspace and returns its output and how it ended.',
  'Each call is a shell of its own: `cd`, variables and shell options do not persist; give workdir, or `cd` inside the command.',
  'Standard input is empty and there is no terminal: nothing can be typed in, so use flags that ask no questions (-y, --no-pager, git commit -m).',
  'Stdout and stderr come as one stream in the order in which they were written; ' +
    `of a long output the first ${PRESENTED_HEAD_BYTES / KIB} KiB and the last ${PRESENTED_TAIL_BYTES / KIB} KiB are shown, ` +
    `of a long line ${PRESENTED_LINE_BYTES_MAX / KIB} KiB; send what you need whole to a file and read parts of it.`,
  'The environment is a fixed allow-list with a UTF-8 locale, no pager, no colour and no secrets of the host.',
  'When its time is over a command is not killed: the call returns the output so far and a handle, and the command lives on; ' +
    'read it with process_output. on_timeout "kill" stops it instead.',
  'For servers and watchers set background (a single & at the end of the command means the same): the call returns the handle at once.',
  'Calls of one reply run side by side: put commands that depend on each other into one call or into later replies.',
];

/** The tool as the model sees it: a schema only. */
export const EXECUTE_TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'execute',
  description: RULES.join('\n'),
  inputSchema: {
    type: 'object',
    properties: {
      command: {
        type: 'string',
        description: `The command line or script, at most ${COMMAND_BYTES_MAX / KIB} KiB; heredocs are fine.`,
      },
      timeout_seconds: {
        type: 'number',
        description:
          `How long to wait for its end, in seconds (not milliseconds); ${TIMEOUT_SECONDS_DEFAULT} if left out, ` +
          `more than ${TIMEOUT_SECONDS_MAX} (${TIMEOUT_SECONDS_MAX / 3600} h) is lowered to that.`,
      },
      workdir: {
        type: 'string',
        description: 'Where it runs, for this call only; relative to the workspace folder, which is the default.',
      },
      background: { type: 'boolean', description: 'Return at once with a handle and let it run on.' },
      on_timeout: {
        type: 'string',
        enum: ['detach', 'kill'],
        description:
          'When the time is over: let it run on ("detach", the default) or stop it and what it started ("kill").',
      },
      intent: { type: 'string', description: 'In a few words, what it is for; shown to people.' },
    },
    required: ['command'],
    additionalProperties: false,
  },
};
