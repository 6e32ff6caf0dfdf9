/** `probe`: what is true of a key. Changes nothing. */
import { splitExecutionKey } from '../../contract/execution-key.ts';
import type { ProbeAnswer, ProbeRequest } from '../../contract/wire/probe.ts';
import type { AnswerBody } from './answer-body.ts';
import { describeKey } from './describe-row.ts';
import type { VerbContext } from './verb-context.ts';
import { isBelowCutoff, requireNonce, requireTarget } from './verb-context.ts';

export async function probe(context: VerbContext, request: ProbeRequest): Promise<AnswerBody<ProbeAnswer>> {
  await requireTarget(context, request.target);
  const row = context.state.calls.find(request.chatId, request.key);
  if (row === undefined) {
    const { messageId } = splitExecutionKey(request.key);
    return { state: isBelowCutoff(context, request.chatId, messageId) ? 'expired' : 'absent' };
  }
  requireNonce(row, request.nonce);
  return describeKey(context, row);
}
