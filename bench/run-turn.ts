/** A whole turn of a chat by the scripted model, through everything. */
import { randomUUID } from 'node:crypto';
import { startTurn } from '../client/start-turn.ts';
import type { TurnHandle } from '../client/start-turn.ts';
import { parseChatId } from '../contract/ids.ts';
import type { ChatId } from '../contract/ids.ts';
import type { TurnTimings } from '../contract/turn.ts';
import { TURN_QUEUE } from './stage.ts';
import type { Stage } from './stage.ts';

export async function newChat({ store, target }: Stage): Promise<ChatId> {
  const chatId = parseChatId(`bench-${randomUUID()}`);
  await store.createChat({ chatId, agentId: target.agentId });
  return chatId;
}

/** Starts the next turn of the chat; `script` is a file of the scripted model. */
export async function beginTurn(
  stage: Stage,
  turn: { readonly chatId: ChatId; readonly script: string; readonly timings?: TurnTimings },
): Promise<TurnHandle> {
  const { store, client, target } = stage;
  const { chatId, script, timings } = turn;
  const userText = 'Measure.';
  await store.enqueueUserMessage({ chatId, clientMessageId: randomUUID(), text: userText });
  const input = {
    chatId,
    turn: await store.reserveNextTurn(chatId),
    agentId: target.agentId,
    model: `scripted:${script}`,
    ...(timings !== undefined && { timings }),
  };
  return startTurn(client, { input, taskQueue: TURN_QUEUE, userText });
}

/** Throws unless every call of the turn was made: a turn that failed early would look like a fast one. */
export async function endOfTurn(handle: TurnHandle, calls: number): Promise<void> {
  const result = await handle.result();
  if (result.state === 'completed' && result.calls === calls) return;
  throw new Error(
    `a turn ended as ${result.state} with ${result.calls} of ${calls} calls: ${result.error?.message ?? ''}`,
  );
}

/** A script with one call a step, each running `true`, then a last word. */
export function stepsOfTrue(count: number): object {
  const steps = Array.from({ length: count }, (_, index) => ({ calls: [executeCall(`call-${index}`, 'true')] }));
  return { steps: [...steps, { text: 'Done.' }] };
}

export function executeCall(id: string, command: string): object {
  return { id, name: 'execute', arguments: { command } };
}
