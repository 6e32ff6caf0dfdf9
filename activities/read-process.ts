import { Context } from '@temporalio/activity';
import { AgentError } from '../agent-client/agent-errors.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { targetOf } from '../agent-client/read-answer.ts';
import type { ReadProcessInput } from '../contract/activity-interfaces.ts';
import type { FailureCode } from '../contract/failures.ts';
import type { CallOutcome, Evidence, ProcessRequest } from '../contract/calls.ts';
import {
  FAILURE_CHARACTERS_MAX,
  PRESENTED_HEAD_BYTES,
  PRESENTED_TAIL_BYTES,
  PROCESS_LIST_ENTRIES_MAX,
} from '../contract/limits.ts';
import type { Target } from '../contract/target.ts';
import { toSafeText } from '../contract/well-formed.ts';
import { asFailure } from './describe-agent.ts';
import { VIEW } from './execute/endings.ts';
import { presentProcessList } from './presentation/present-process-list.ts';
import { presentProcessOutput } from './presentation/present-process-output.ts';

/** Answers about the question, which asking again would not change. */
const REFUSALS: readonly FailureCode[] = ['unknown_process', 'bad_request'];

/**
 * What a chat's processes are and print. It runs nothing and stops nothing, so every end of it is `no_effect`, and an
 * agent that is away or changed is a failure to be tried again.
 */
export async function readProcess(client: AgentClient, input: ReadProcessInput): Promise<CallOutcome> {
  const { request } = input;
  try {
    return request.verb === 'output'
      ? await readOutput(client, input, request)
      : await readList(client, input, request);
  } catch (error) {
    if (!(error instanceof AgentError) || !REFUSALS.includes(error.code)) throw asFailure(error);
    const cause = toSafeText(error.message, FAILURE_CHARACTERS_MAX);
    // A4: a foreign process is as unknown as none at all.
    const hint = error.code === 'unknown_process' ? '; process_list tells which there are' : '';
    const evidence = { code: 'invalid_arguments', detail: cause, target: error.answeredBy } as const;
    return ended(evidence, `[not read: ${cause}${hint}]`);
  }
}

async function readOutput(
  client: AgentClient,
  { chatId, target }: ReadProcessInput,
  request: Extract<ProcessRequest, { verb: 'output' }>,
): Promise<CallOutcome> {
  const { handle, fromByte, waitSeconds } = request;
  const range = fromByte === undefined ? { view: VIEW } : { from: fromByte, bytesMax: RANGE_BYTES_MAX };
  const { cancellationSignal: signal } = Context.current();
  const answer = await client.output({ target, chatId, handle, ...range, waitMs: waitSeconds * 1000 }, { signal });
  const detail = `Process ${handle} is ${answer.state} and has printed ${answer.total} bytes.`;
  return ended(read(detail, targetOf(answer)), presentProcessOutput(answer));
}

const RANGE_BYTES_MAX = PRESENTED_HEAD_BYTES + PRESENTED_TAIL_BYTES;

async function readList(
  client: AgentClient,
  { chatId, target }: ReadProcessInput,
  { includeEnded, after }: Extract<ProcessRequest, { verb: 'list' }>,
): Promise<CallOutcome> {
  const page = { onlyOpen: !includeEnded, limit: PROCESS_LIST_ENTRIES_MAX, ...(after === undefined ? {} : { after }) };
  const { cancellationSignal: signal } = Context.current();
  const answer = await client.list({ target, chatId, ...page }, { signal });
  const detail = `${answer.processes.length} processes were listed.`;
  return ended(read(detail, targetOf(answer)), presentProcessList(answer, { includeEnded }));
}

function read(detail: string, target: Target): Evidence {
  return { code: 'read', detail: toSafeText(detail, FAILURE_CHARACTERS_MAX), target };
}

function ended(evidence: Evidence, text: string): CallOutcome {
  return { status: 'no_effect', evidence, text: text.toWellFormed() };
}
