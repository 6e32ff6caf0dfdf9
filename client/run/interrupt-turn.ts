/** Asks a running turn to stop. */
import type { Client } from '@temporalio/client';
import { CodedError } from '../../contract/failures.ts';
import { INTERRUPT_UPDATE, turnWorkflowId } from '../../contract/names.ts';
import type { InterruptAnswer, InterruptRequest } from '../../contract/operator.ts';
import { operatorName } from '../calls/operator-name.ts';
import { isNotReady } from '../when-ready.ts';
import type { ChatTurn } from './latest-turn.ts';

/** A turn worker that is there answers in milliseconds; a dead one's task needs its own time-outs first. */
const ANSWER_MS_MAX = 5000;

/**
 * By the update, which answers once the turn has taken it. With no turn worker, or one whose tasks fail, there is nobody
 * to take it, and it would be forgotten: then by a cancel of the workflow, which Temporal keeps and the turn reads as the
 * same request.
 */
export async function interruptTurn(client: Client, { chatId, turn }: ChatTurn): Promise<'taken' | 'kept'> {
  const handle = client.workflow.getHandle(turnWorkflowId(chatId, turn));
  const args: [InterruptRequest] = [{ who: operatorName(undefined) }];
  try {
    const deadline = Date.now() + ANSWER_MS_MAX;
    const update = () => handle.executeUpdate<InterruptAnswer, [InterruptRequest]>(INTERRUPT_UPDATE, { args });
    await client.connection.withDeadline(deadline, update);
    return 'taken';
  } catch (error) {
    if (isNamed(error, 'WorkflowNotFoundError')) throw gone({ chatId, turn });
    if (!isNamed(error, 'WorkflowUpdateRPCTimeoutOrCancelledError') && !isNotReady(error)) throw error;
  }
  try {
    await handle.cancel();
    return 'kept';
  } catch (error) {
    throw isNamed(error, 'WorkflowNotFoundError') ? gone({ chatId, turn }) : error;
  }
}

/** It ended just now, or was terminated: then the sweep writes its end within a minute. */
function gone({ chatId, turn }: ChatTurn): CodedError {
  return new CodedError('turn_closed', `nothing runs turn ${turn} of chat ${chatId} any more.`);
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
