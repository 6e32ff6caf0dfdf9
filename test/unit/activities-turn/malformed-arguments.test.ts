import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolveModel } from '../../../activities/model/resolve-model.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import { CHAT, openStoreWithTurn } from '../store/chat-fixture.ts';
import { runAttempt } from './generate-step-fixture.ts';

const SCRIPT = join(import.meta.dirname, '../../fixtures/scripts/malformed-arguments.json');

describe('R7: malformed arguments run nothing, each has a result that names the fault, and the next model call works', () => {
  test('F05: malformed arguments run nothing, each has a result that names the fault, and the next model call works', async () => {
    const store = await openStoreWithTurn();
    const models = () => resolveModel(`scripted:${SCRIPT}`, { env: {} });
    const first = await runAttempt(store, models);
    expect(first.isFinal).toBe(false);
    expect(
      first.calls.every(
        (call) => call.status === 'no_effect' && call.request === undefined && call.target === undefined,
      ),
    ).toBe(true);

    const calls = await store.listCalls({ chatId: CHAT });
    expect(calls.map((call) => call.toolCallId)).toEqual([
      'empty',
      'broken',
      'text',
      'array',
      'null',
      'number',
      'two',
      'call-7',
      'call-8',
      'text~2',
    ]);
    expect(calls.every((call) => call.evidence?.code === 'invalid_arguments' && call.result?.isError === true)).toBe(
      true,
    );
    const faults = [
      /they are empty/,
      /not valid JSON/,
      /a string, not a JSON object/,
      /an array, not a JSON object/,
      /null, not a JSON object/,
      /command is not a text/,
      /not valid JSON/,
      /no tool of this name; the tools are: execute/,
      /command is empty/,
      /unknown field "sudo"/,
    ];
    for (const [index, fault] of faults.entries()) expect(calls[index]!.result!.text).toMatch(fault);
    expect(calls.slice(0, 6).map((call) => call.arguments)).toEqual([{}, {}, {}, {}, {}, { command: 5 }]);

    // The scripted model refuses what a strict provider refuses: arguments that are no object, ids that repeat.
    const second = await runAttempt(store, models, { step: 2, messageId: parseMessageId(3) });
    expect(second).toMatchObject({ isFinal: true });
    await store.endTurn({ chatId: CHAT, turn: 1, state: 'completed' });
  });
});
