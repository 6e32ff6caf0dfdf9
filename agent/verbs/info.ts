/** `info`: whose word this is. The one verb without a target: it is where a target comes from. */
import * as limits from '../../contract/limits.ts';
import type { InfoAnswer, InfoRequest } from '../../contract/wire/info.ts';
import type { AnswerBody } from './answer-body.ts';
import type { VerbContext } from './verb-context.ts';

export function info(context: VerbContext, request: InfoRequest): Promise<AnswerBody<InfoAnswer>> {
  const { state, settings, startup } = context;
  return Promise.resolve({
    version: settings.version,
    nodeVersion: process.version,
    pid: process.pid,
    workspace: settings.workspace,
    ready: startup.isReady,
    tree: context.supervisor.tree,
    ...(startup.state !== undefined && { startup: startup.state }),
    limits: {
      commandBytesMax: limits.COMMAND_BYTES_MAX,
      environmentBytesMax: limits.ENVIRONMENT_BYTES_MAX,
      bodyBytesMax: limits.AGENT_BODY_BYTES_MAX,
      waitMsMax: limits.AGENT_WAIT_MS_MAX,
      openPerChatMax: limits.OPEN_CALLS_PER_CHAT_MAX,
      outputAnswerBytesMax: limits.OUTPUT_ANSWER_BYTES_MAX,
    },
    counts: state.calls.counts(),
    ...(request.chatId !== undefined && { chatHighestMessageId: state.calls.chat(request.chatId).highestMessageId }),
  });
}
