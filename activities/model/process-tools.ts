import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import {
  PRESENTED_HEAD_BYTES,
  PRESENTED_TAIL_BYTES,
  PROCESS_LIST_ENTRIES_MAX,
  PROCESS_WAIT_SECONDS_MAX,
} from '../../contract/limits.ts';
import { SIGNALS } from '../../contract/signals.ts';

const KIB = 1024;

export const PROCESS_OUTPUT_TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'process_output',
  description:
    'Reads what a process of this chat has printed so far, and tells whether it runs or how it ended. Changes nothing. ' +
    `Without from_byte: the first ${PRESENTED_HEAD_BYTES / KIB} KiB and the last ${PRESENTED_TAIL_BYTES / KIB} KiB. ` +
    `With from_byte: up to ${(PRESENTED_HEAD_BYTES + PRESENTED_TAIL_BYTES) / KIB} KiB from that byte on, and where to ` +
    'go on. Stdout and stderr are one stream in the order in which they were written.',
  inputSchema: {
    type: 'object',
    properties: {
      handle: { type: 'string', description: 'The handle that execute or process_list gave, such as "p7".' },
      from_byte: { type: 'integer', description: 'Offset in bytes from the beginning of the output, from 0.' },
      wait_seconds: {
        type: 'number',
        description:
          'Wait up to so many seconds for the process to end (with from_byte: for more output); 0 if left out, ' +
          `at most ${PROCESS_WAIT_SECONDS_MAX}.`,
      },
    },
    required: ['handle'],
    additionalProperties: false,
  },
};

export const PROCESS_LIST_TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'process_list',
  description:
    'Lists the processes that execute has started in this chat: handle, state, age in seconds, command. Those that ' +
    `have not ended, or all of them; oldest first, ${PROCESS_LIST_ENTRIES_MAX} at a time. Changes nothing.`,
  inputSchema: {
    type: 'object',
    properties: {
      include_ended: { type: 'boolean', description: 'Also those that have ended; false if left out.' },
      after: { type: 'string', description: 'Where the list before this one said that there are more.' },
    },
    additionalProperties: false,
  },
};

export const PROCESS_SIGNAL_TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'process_signal',
  description:
    'Sends a signal to a process of this chat and to what it started, once. To stop one: SIGTERM first, and SIGKILL if ' +
    'it is still alive after a while. After a signal that ends processes the result names those that are still alive ' +
    'a second later. A process that has ended is not signalled; the result says how it ended.',
  inputSchema: {
    type: 'object',
    properties: {
      handle: { type: 'string', description: 'The handle that execute or process_list gave, such as "p7".' },
      signal: { type: 'string', enum: [...SIGNALS], description: 'Which signal, by its name.' },
    },
    required: ['handle', 'signal'],
    additionalProperties: false,
  },
};
