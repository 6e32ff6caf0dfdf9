import { expect, test } from 'vitest';
import type { ChatId, ExecutionKey, Nonce, ToolCallId } from '../../../contract/ids.ts';
import { carriedState, shouldContinue } from '../../../workflows/continue-turn.ts';
import { newTurnState } from '../../../workflows/turn-state.ts';
import type { CallRecord, TurnState } from '../../../workflows/turn-state.ts';
import { AGENT, TARGET } from '../store/chat-fixture.ts';

const PAYLOAD_BYTES_MAX = 2 * 1024 * 1024;

function endedCall(index: number): CallRecord {
  const evidence = { code: 'exit', detail: 'x'.repeat(2000), target: TARGET } as const;
  return {
    step: index,
    call: {
      key: `${index}-a` as ExecutionKey,
      toolCallId: 'a' as ToolCallId,
      toolName: 'execute',
      position: 0,
      nonce: `n.${index}` as Nonce,
      summary: '$ x',
      agentId: AGENT,
      status: 'reserved',
      request: {
        command: 'x'.repeat(200_000),
        timeoutSeconds: 1,
        background: false,
        onTimeout: 'detach',
        notes: [],
      },
      target: TARGET,
    },
    entry: {
      status: 'exited',
      hasResult: true,
      lateTruths: [],
      exitCode: 0,
      target: TARGET,
      result: { status: 'exited', evidence },
    },
  };
}

function stateWith(count: number): TurnState {
  const state = newTurnState({ chatId: 'chat-1' as ChatId, turn: 1, agentId: AGENT, model: 'm' });
  state.calls.push(...Array.from({ length: count }, (_, index) => endedCall(index)));
  return state;
}

test('F07 part: what a turn takes to its next run fits into a payload, however many calls it had', () => {
  const carried = carriedState(stateWith(300));
  expect(JSON.stringify(carried).length).toBeLessThan(PAYLOAD_BYTES_MAX / 4);
  expect(carried.earlierCalls + carried.calls.length).toBe(300);
  const again = carriedState({ ...carried, calls: [...carried.calls, ...stateWith(50).calls] });
  expect(again.earlierCalls + again.calls.length).toBe(350);
});

test('a call keeps its key, status, exit code and evidence over the move', () => {
  expect(carriedState(stateWith(1)).calls[0]).toMatchObject({
    call: { key: '0-a' },
    entry: { status: 'exited', hasResult: true, exitCode: 0, result: { evidence: { code: 'exit' } } },
  });
});

test.each([
  [{ events: 10, bytes: 10, isMoveSuggested: false }, false],
  [{ events: 10, bytes: 10, isMoveSuggested: true }, true],
  [{ events: 8001, bytes: 10, isMoveSuggested: false }, true],
  [{ events: 10, bytes: 9_000_000, isMoveSuggested: false }, true],
  [{ events: 60, bytes: 10, isMoveSuggested: false, eventsMax: 50 }, true],
])('with a history of %j it moves: %s', (size, moves) => {
  expect(shouldContinue(size)).toBe(moves);
});
