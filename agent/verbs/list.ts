/** `list`: a chat's processes, paged, oldest first. */
import type { ListAnswer, ListRequest } from '../../contract/wire/list.ts';
import type { AnswerBody } from './answer-body.ts';
import { describeKey } from './describe-row.ts';
import type { VerbContext } from './verb-context.ts';
import { requireTarget } from './verb-context.ts';

const LIMIT_DEFAULT = 50;

export async function list(context: VerbContext, request: ListRequest): Promise<AnswerBody<ListAnswer>> {
  await requireTarget(context, request.target);
  const limit = request.limit ?? LIMIT_DEFAULT;
  const rows = context.state.calls.listOfChat(request.chatId, {
    afterId: Number(request.after ?? 0) || 0,
    limit: limit + 1,
    onlyOpen: request.onlyOpen ?? false,
  });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    processes: page.map((row) => {
      const { state, handle, startedAt, ageMs, exit } = describeKey(context, row);
      return {
        key: row.key,
        state,
        command: row.commandLine,
        background: row.isBackground,
        ...(handle !== undefined && { handle }),
        ...(startedAt !== undefined && { startedAt }),
        ...(ageMs !== undefined && { ageMs }),
        ...(exit !== undefined && { exit }),
      };
    }),
    ...(rows.length > limit && last !== undefined && { next: String(last.id) }),
  };
}
