import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { startNextTurn } from '../../../client/run/start-next-turn.ts';
import { parseAgentId, parseChatId } from '../../../contract/ids.ts';

const chatId = parseChatId('chat-1');
const next = {
  input: { chatId, agentId: parseAgentId('a-1'), model: 'scripted:x' },
  taskQueue: 'turns',
  userText: 'Hello',
};

/** A server that has seen every turn up to `used`, and a store that knows of the first one only. */
function pieces(used: number, failure?: Error) {
  let last = 1;
  const asked: string[] = [];
  const start = async (_: string, { workflowId }: { workflowId: string }) => {
    asked.push(workflowId);
    if (failure !== undefined) throw failure;
    if (Number(workflowId.split('/').at(-1)) <= used) {
      throw new WorkflowExecutionAlreadyStartedError('already started', workflowId, 'turn');
    }
    return { workflowId };
  };
  const store = { reserveNextTurn: async () => (last += 1) };
  return { asked, at: { store, client: { workflow: { start } } as unknown as Client } };
}

test('a turn gets the first number that the server has not seen, also when the store was restored from a backup', async () => {
  const { asked, at } = pieces(4);
  expect(await startNextTurn(at, next)).toEqual({ turn: 5, workflowId: 'turn/chat-1/5' });
  expect(asked).toEqual(['turn/chat-1/2', 'turn/chat-1/3', 'turn/chat-1/4', 'turn/chat-1/5']);
});

test('a store that is far behind the server is said to be so, after a bounded number of tries', async () => {
  const { asked, at } = pieces(Number.POSITIVE_INFINITY);
  await expect(startNextTurn(at, next)).rejects.toMatchObject({ code: 'store_rolled_back' });
  expect(asked.length).toBe(50);
});

test('any other failure of the start is not tried again', async () => {
  const { asked, at } = pieces(0, new Error('no such namespace'));
  await expect(startNextTurn(at, next)).rejects.toThrow('no such namespace');
  expect(asked.length).toBe(1);
});
