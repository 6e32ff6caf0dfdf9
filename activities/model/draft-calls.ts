/** From what a model asked for to the rows that are committed: each call with a request, or with its refusal. */
import type { CallOutcome, CallRequest } from '../../contract/calls.ts';
import { FAILURE_CHARACTERS_MAX, SUMMARY_CHARACTERS_MAX } from '../../contract/limits.ts';
import { firstLine, toSafeText, utf8Length } from '../../contract/well-formed.ts';
import type { CallDraft } from '../../store/commit-step.ts';
import { assignToolCallIds } from './tool-call-ids.ts';
import { parseToolArguments } from './tools.ts';

/** A tool call as the provider reported it; nothing about it can be relied on. */
export interface RawToolCall {
  readonly id: unknown;
  readonly name: string;
  readonly input: string;
}

/** All calls of a step travel in one result, of which a worker lets 1 MiB pass. */
const STEP_BYTES_MAX = 960 * 1024;
/** A call's names and target in that result, its ids and its request apart. */
const CALL_BYTES = 700;
/** A step is never split, and its results stay in one run's history: so many of the largest fit into its 50 MiB. */
const STEP_CALLS_MAX = 256;
const TOOL_NAME_CHARACTERS_MAX = 128;

export interface DraftOptions {
  readonly showCommands: boolean;
  /** The reply ended at its length limit, so its last call may be torn. */
  readonly isCutShort?: boolean;
}

const CUT_SHORT_FAULT = 'the reply was cut off at its length limit, so write less at once';

/** One draft a call, in the asked order. What can't be carried out is resolved here and now: it never runs (F05). */
export function draftCalls(
  calls: readonly RawToolCall[],
  { showCommands, isCutShort = false }: DraftOptions,
): readonly CallDraft[] {
  const ids = assignToolCallIds(calls.map((call) => call.id));
  // Those that are refused travel along; an id is there twice, by itself and in its key.
  let stepBytes = ids.reduce((sum, id) => sum + CALL_BYTES + 2 * encodedBytes(id), 0);
  return calls.map((call, position): CallDraft => {
    const toolName = toSafeText(call.name, TOOL_NAME_CHARACTERS_MAX);
    const { argumentsJson, request, fault } = parseToolArguments(toolName, call.input);
    const base = { toolCallId: ids[position]!, toolName, argumentsJson };
    if (request === undefined) {
      const isCut = isCutShort && position === calls.length - 1;
      return { ...base, ...refused(toolName, isCut ? `${fault}; ${CUT_SHORT_FAULT}` : fault) };
    }
    const summary = showCommands ? summaryOf(toolName, request) : toolName;
    stepBytes += encodedBytes(request) + encodedBytes(summary);
    if (stepBytes > STEP_BYTES_MAX) return { ...base, ...refused(toolName, TOO_MUCH_FAULT) };
    if (position >= STEP_CALLS_MAX) return { ...base, ...refused(toolName, TOO_MANY_FAULT) };
    return { ...base, request, summary };
  });
}

/** As it is sent: escapes can make a command six times as long. */
function encodedBytes(value: unknown): number {
  return utf8Length(JSON.stringify(value));
}

const TOO_MANY_FAULT = `one reply has at most ${STEP_CALLS_MAX} calls; ask for the others in a later reply`;
const TOO_MUCH_FAULT = `the calls of one reply together are over ${STEP_BYTES_MAX / 1024} KiB; ask again in a later reply`;

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

function summaryOf(toolName: string, request: CallRequest): string {
  if (!('verb' in request)) return `$ ${firstLine(request.command, SUMMARY_CHARACTERS_MAX - 2)}`;
  switch (request.verb) {
    case 'output':
      return firstLine(`${toolName} ${request.handle}`, SUMMARY_CHARACTERS_MAX);
    case 'signal':
      return firstLine(`${toolName} ${request.handle} ${request.signal}`, SUMMARY_CHARACTERS_MAX);
    case 'list':
      return toolName;
  }
}
