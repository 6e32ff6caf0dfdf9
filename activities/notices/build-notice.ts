import { createHash } from 'node:crypto';
import type { NoticeInput } from '../../contract/notice.ts';
import type { EndedTurn } from '../../store/ended-turn.ts';

export interface Notice {
  /** The same for each try, so that a receiver knows a repeat. */
  readonly id: string;
  readonly body: string;
}

const ID_CHARACTERS = 32;

/** What is told of a turn's end; nothing of what was said in it but the chat's title. */
export function buildNotice({ chatId, turn }: NoticeInput, ended: EndedTurn): Notice {
  const { state, error, endedAt, steps, calls, title } = ended;
  const body = {
    type: `turn.${state}`,
    timestamp: endedAt,
    chatId,
    turn,
    state,
    ...(error === undefined ? {} : { error }),
    steps,
    calls,
    ...(title === undefined ? {} : { title }),
  };
  // No dots: the convention puts them between id, time and body, and a chat's id may have some.
  const digest = createHash('sha256').update(`${chatId}/${turn}`).digest('hex').slice(0, ID_CHARACTERS);
  return { id: `turn_${digest}`, body: JSON.stringify(body) };
}
