/** Activities of one kind, one after the other: what the rounds compare. */
import { proxyActivities } from '@temporalio/workflow';
import type { CommittedCall, ExecuteRequest } from '../../contract/calls.ts';
import { buildExecutionKey } from '../../contract/execution-key.ts';
import { callNonce } from '../../contract/ids.ts';
import type { ChatId, MessageId, ToolCallId } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import { executeActivity, fillTimings } from '../../workflows/activity-options.ts';

export interface PlainActivities {
  doNothing(): Promise<void>;
  spawnTrue(): Promise<void>;
}

export interface ChainInput {
  readonly kind: 'nothing' | 'spawn' | 'execute';
  readonly count: number;
  /** For `execute`: a chat of its own, and where its calls go. */
  readonly chatId: ChatId;
  readonly target: Target;
}

const REQUEST: ExecuteRequest = {
  command: 'true',
  timeoutSeconds: 60,
  background: false,
  onTimeout: 'detach',
  notes: [],
};

const { doNothing, spawnTrue } = proxyActivities<PlainActivities>({ startToCloseTimeout: '1 minute' });

export async function chain(input: ChainInput): Promise<void> {
  for (let place = 1; place <= input.count; place++) {
    if (input.kind === 'nothing') await doNothing();
    else if (input.kind === 'spawn') await spawnTrue();
    else await executeTrue(input, place);
  }
}

/** The very activity, with the options of a turn; without the turn's model call and its write to the store. */
async function executeTrue({ chatId, target }: ChainInput, place: number): Promise<void> {
  const toolCallId = 'call' as ToolCallId;
  const key = buildExecutionKey({ messageId: place as MessageId, toolCallId });
  const nonce = callNonce('bench', 0);
  const timings = fillTimings(undefined);
  const { agentId } = target;
  const call: CommittedCall = {
    key,
    toolCallId,
    toolName: 'execute',
    position: 0,
    nonce,
    summary: '$ true',
    agentId,
    status: 'reserved',
  };
  const { execute } = executeActivity(call, REQUEST, timings);
  const outcome = await execute({ chatId, key, nonce, target, request: REQUEST, trustWindowMs: timings.trustWindowMs });
  if (outcome.status !== 'exited') throw new Error(`${key} ended as ${outcome.status}: ${outcome.evidence.detail}`);
}
