/** The tools as a model sees them: schemas only. Calls are carried out by the workflow, never by the AI SDK. */
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { CallRequest } from '../../contract/calls.ts';
import { EXECUTE_TOOL } from './execute-tool.ts';
import { parseExecuteArguments } from './parse-execute-arguments.ts';
import { parseJsonObject } from './parse-json-object.ts';
import {
  parseProcessListArguments,
  parseProcessOutputArguments,
  parseProcessSignalArguments,
} from './parse-process-arguments.ts';
import type { ParsedArguments } from './parsed-arguments.ts';
import { PROCESS_LIST_TOOL, PROCESS_OUTPUT_TOOL, PROCESS_SIGNAL_TOOL } from './process-tools.ts';

export const TOOLS: readonly LanguageModelV4FunctionTool[] = [
  EXECUTE_TOOL,
  PROCESS_OUTPUT_TOOL,
  PROCESS_LIST_TOOL,
  PROCESS_SIGNAL_TOOL,
];

export function parseToolArguments(toolName: string, input: string): ParsedArguments<CallRequest> {
  switch (toolName) {
    case EXECUTE_TOOL.name:
      return parseExecuteArguments(input);
    case PROCESS_OUTPUT_TOOL.name:
      return parseProcessOutputArguments(input);
    case PROCESS_LIST_TOOL.name:
      return parseProcessListArguments(input);
    case PROCESS_SIGNAL_TOOL.name:
      return parseProcessSignalArguments(input);
    default: {
      const known = TOOLS.map((tool) => tool.name).join(', ');
      return {
        argumentsJson: parseJsonObject(input).json,
        fault: `there is no tool of this name; the tools are: ${known}`,
      };
    }
  }
}
