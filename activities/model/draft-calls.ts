/** From what a model asked for to the rows that are committed: each call with a request, or with its refusal. */
import type { CallOutcome, ExecuteRequest } from '../../contract/calls.ts';
import { FAILURE_CHARACTERS_MAX, SUMMARY_CHARACTERS_MAX } from '../../contract/limits.ts';
import { firstLine, toSafeText, utf8Length } from '../../contract/well-formed.ts';
import type { CallDraft } from '../../store/commit-step.ts';
import { EXECUTE_TOOL_NAME } from './execute-tool.ts';
import { parseExecuteArguments } from './parse-execute-arguments.ts';
import { parseJsonObject } from './parse-json-object.ts';
import { assignToolCallIds } from './tool-call-ids.ts';

/** A tool call as the provider reported it; nothing about it can be relied on. */
export interface RawToolCall {
  readonly id: unknown;
  readonly name: string;
  readonly input: string;
}

/** All requests of a step travel in one result; Temporal refuses one of 2 MiB, and the rest of it takes room as well. */
const STEP_REQUESTS_BYTES_MAX = 1024 * 1024;
const TOOL_NAME_CHARACTERS_MAX = 128;

/** One draft a call, in the asked order. What can't be carried out is resolved here and now: it never runs (F05). */
export function draftCalls(
  calls: readonly RawToolCall[],
  { showCommands }: { readonly showCommands: boolean },
): readonly CallDraft[] {
  const ids = assignToolCallIds(calls.map((call) => call.id));
  let requestsBytes = 0;
  return calls.map((call, position): CallDraft => {
    const toolName = toSafeText(call.name, TOOL_NAME_CHARACTERS_MAX);
    const { argumentsJson, request, fault } = readArguments({ toolName, input: call.input });
    const base = { toolCallId: ids[position]!, toolName, argumentsJson };
    if (request === undefined) return { ...base, ...refused(toolName, fault) };
    // Counted as it is encoded: escapes can make a command six times as long.
    requestsBytes += utf8Length(JSON.stringify(request));
    if (requestsBytes > STEP_REQUESTS_BYTES_MAX) return { ...base, ...refused(toolName, TOO_MUCH_FAULT) };
    return { ...base, request, summary: showCommands ? summaryOf(request) : EXECUTE_TOOL_NAME };
  });
}

const TOO_MUCH_FAULT = `the calls of one reply together are over ${STEP_REQUESTS_BYTES_MAX / 1024} KiB; ask again in a later reply`;

function readArguments({
  toolName,
  input,
}: {
  toolName: string;
  input: string;
}): ReturnType<typeof parseExecuteArguments> {
  if (toolName === EXECUTE_TOOL_NAME) return parseExecuteArguments(input);
  const parsed = parseJsonObject(input);
  return { argumentsJson: parsed.json, fault: `there is no tool of this name; the tools are: ${EXECUTE_TOOL_NAME}` };
}

function refused(toolName: string, fault: string): { summary: string; outcome: CallOutcome } {
  const detail = toSafeText(fault, FAILURE_CHARACTERS_MAX);
  return {
    summary: firstLine(`${toolName} (refused)`, SUMMARY_CHARACTERS_MAX),
    outcome: {
      status: 'no_effect',
      evidence: { code: 'invalid_arguments', detail },
      text: `[not run: the call of ${toolName} can't be carried out: ${detail}. Nothing was executed.]`,
    },
  };
}

function summaryOf(request: ExecuteRequest): string {
  return `$ ${firstLine(request.command, SUMMARY_CHARACTERS_MAX - 2)}`;
}
