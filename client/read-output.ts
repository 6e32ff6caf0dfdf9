/** What a command has printed, from wherever Temporal and the store can be reached: its agent is asked through its worker. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { CodedError } from '../contract/failures.ts';
import type { ChatId, ExecutionKey, Handle } from '../contract/ids.ts';
import { READ_OUTPUT_MS_MAX, SUMMARY_CHARACTERS_MAX, WORKFLOW_TASK_TIMEOUT_MS } from '../contract/limits.ts';
import { READ_OUTPUT_WORKFLOW_TYPE, readOutputWorkflowId, searchAttribute, turnWorkflowId } from '../contract/names.ts';
import type { ReadOutputInput, ReadOutputResult } from '../contract/read-output.ts';
import { toSafeText } from '../contract/well-formed.ts';
import type { Store, StoredCall } from './open-store.ts';
import { readPendingActivities } from './watch/pending-activities.ts';

export interface OutputRequest {
  readonly key: ExecutionKey;
  /** Bytes from this absolute offset on; absent: the first and the last ones. */
  readonly fromByte?: number;
}

export interface ReadOutput {
  readonly text: string;
  /** How the process is, and how much it has printed. */
  readonly detail: string;
}

interface Asked {
  readonly client: Client;
  /** Of the turn workers. */
  readonly taskQueue: string;
  readonly store: Pick<Store, 'findCall'>;
}

/** Past the question itself: the workflow's own tasks. */
const MARGIN_MS = 5000;

/**
 * Throws `unknown_process` where there is no such call or its agent has nothing of it any more, `too_busy` before it has
 * started, `agent_unreachable` when nobody answers.
 */
export async function readOutput(
  { client, taskQueue, store }: Asked,
  chatId: ChatId,
  { key, fromByte }: OutputRequest,
): Promise<ReadOutput> {
  const call = await store.findCall({ chatId, key });
  if (call === undefined) throw new CodedError('unknown_process', `chat ${chatId} has no call ${key}`, 'key');
  const { target } = call;
  const handle = call.handle ?? (await findHandle(client, call));
  if (target === undefined || handle === undefined) {
    if (call.result === undefined) throw new CodedError('too_busy', `call ${key} has not told of a process yet`, 'key');
    // A row without a target was never dispatched, unless it is a copy's (decision 0014).
    if (call.handle !== undefined || call.exitCode !== undefined) {
      const reason = `call ${key} was imported: its output stays with the machine that it ran on`;
      throw new CodedError('unknown_process', reason, 'key');
    }
    throw new CodedError('unknown_process', `call ${key} had no process: it is ${call.status}`, 'key');
  }
  const range = fromByte === undefined ? {} : { fromByte };
  const result = await client.workflow.execute<(input: ReadOutputInput) => Promise<ReadOutputResult>>(
    READ_OUTPUT_WORKFLOW_TYPE,
    {
      workflowId: readOutputWorkflowId(chatId, randomUUID()),
      taskQueue,
      args: [{ chatId, key, target, handle, ...range }],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      workflowExecutionTimeout: READ_OUTPUT_MS_MAX + MARGIN_MS,
      staticSummary: toSafeText(`output of ${call.summary}`, SUMMARY_CHARACTERS_MAX),
      typedSearchAttributes: [searchAttribute('chatId', chatId), searchAttribute('agentId', target.agentId)],
    },
  );
  if (result.state === 'read') return { text: result.text, detail: result.detail };
  const code = result.state === 'refused' ? 'unknown_process' : 'agent_unreachable';
  throw new CodedError(code, `the output of call ${key} could not be read: ${result.reason}`, 'key');
}

/** Of a command that the turn still waits for the row doesn't know it: its heartbeat does. */
async function findHandle(client: Client, { chatId, turn, key, result }: StoredCall): Promise<Handle | undefined> {
  if (result !== undefined) return undefined;
  try {
    const described = await client.workflow.getHandle(turnWorkflowId(chatId, turn)).describe();
    return readPendingActivities(described).find(({ heartbeat }) => heartbeat?.key === key)?.heartbeat?.handle;
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return undefined;
    throw error;
  }
}
