import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { TIMEOUT_SECONDS_DEFAULT, TIMEOUT_SECONDS_MAX } from '../../contract/limits.ts';

export const EXECUTE_TOOL_NAME = 'execute';

/** The tool as the model sees it: a schema only. Calls are carried out by the workflow, never by the AI SDK. */
export const EXECUTE_TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: EXECUTE_TOOL_NAME,
  description:
    'Runs a shell command (bash) in the workspace and returns its output and how it ended. Standard input is empty. ' +
    'Calls of one reply run side by side: put commands that depend on each other into one call or into later replies.',
  inputSchema: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command line or script.' },
      timeout_seconds: {
        type: 'number',
        description:
          `How long to wait for its end, in seconds; ${TIMEOUT_SECONDS_DEFAULT} if left out, ` +
          `at most ${TIMEOUT_SECONDS_MAX}.`,
      },
      workdir: { type: 'string', description: 'Where it runs; relative to the workspace, which is the default.' },
      background: { type: 'boolean', description: 'Return at once and let it run on.' },
      on_timeout: {
        type: 'string',
        enum: ['detach', 'kill'],
        description: 'When the time is over: let it run on ("detach", the default) or stop it ("kill").',
      },
      intent: { type: 'string', description: 'In a few words, what it is for; shown to people.' },
    },
    required: ['command'],
    additionalProperties: false,
  },
};
