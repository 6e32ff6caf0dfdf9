import { describe, expect, test } from 'vitest';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

describe('R6: three calls side by side, the middle one failing, give three results under their own ids in the asked order', () => {
  test('F01: three calls side by side, the middle one failing, give three results under their own ids in the asked order', async () => {
    const whole = await Whole.open();
    const a = 'sleep 2; echo a';
    const c = 'sleep 3; echo c';
    const turn = await whole.startTurn([
      commands({ a1: a, b1: { command: 'echo b', workdir: 'no/such/folder' }, c1: c }),
      commands({ a2: a, b2: 'exit 3', c2: c }),
      DONE,
    ]);
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: 6 });

    const calls = await turn.calls();
    expect(calls.map(({ toolCallId, status, exitCode }) => [toolCallId, status, exitCode])).toEqual([
      ['a1', 'exited', 0],
      ['b1', 'no_effect', undefined],
      ['c1', 'exited', 0],
      ['a2', 'exited', 0],
      ['b2', 'exited', 3],
      ['c2', 'exited', 0],
    ]);
    const text = async (id: string) => (await turn.call(id)).result?.text;
    expect(await text('a1')).toMatch(/^a\n/);
    expect(await text('b1')).toMatch(/nothing ran.*no\/such\/folder/);
    expect(await text('c2')).toMatch(/^c\n/);

    // What the model was told next has the results in the same order.
    const said = (await whole.store.loadConversation(whole.chatId)).flatMap((message) =>
      message.role === 'assistant' ? message.calls.map(({ toolCallId }) => toolCallId) : [],
    );
    expect(said).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);

    for (const step of ['1', '2']) {
      const [first, middle, last] = await Promise.all(['a', 'b', 'c'].map((id) => turn.call(`${id}${step}`)));
      const resolvedMs = (call: typeof first) => Date.parse(call?.resolvedAt ?? '');
      const startedMs = (call: typeof first) => Date.parse(call?.outcome?.startedAt ?? '');
      // Side by side: the last one was started before the first one had ended.
      expect(startedMs(last)).toBeLessThan(startedMs(first) + 2000);
      // C2: the failed one waited for nobody.
      expect(resolvedMs(middle)).toBeLessThan(resolvedMs(first));
      expect(resolvedMs(first)).toBeLessThan(resolvedMs(last));
    }
  });
});
