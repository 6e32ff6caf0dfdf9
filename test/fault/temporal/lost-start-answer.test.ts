import { describe, expect, test } from 'vitest';
import type { AnswerFault } from '../../fakes/fault-proxy.ts';
import { splitExecutionKey } from '../../../contract/execution-key.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** By tool-call id: what becomes of the first answer. */
const FAULTS: Readonly<Record<string, AnswerFault>> = { gateway: 'bad-gateway', cut: 'cut', late: 'hold' };
const IDS = Object.keys(FAULTS);

describe('R22: a start whose answer is lost (502, cut, too late) is joined by the retry, which is told so; one run each', () => {
  test('E04: a start whose answer is lost (502, cut, too late) is joined by the retry, which is told so; one run each', async () => {
    const whole = await Whole.open();
    whole.proxy.faultOf = ({ verb, body }) => {
      if (verb !== 'start' || whole.proxy.of('start', String(body['key'])).length > 1) return undefined;
      return FAULTS[splitExecutionKey(body['key']).toolCallId];
    };
    const command = (id: string) => logged(whole.folder, id, `sleep 5; echo y-${id}`);
    const turn = await whole.startTurn([commands(Object.fromEntries(IDS.map((id) => [id, command(id)]))), DONE]);
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: 3 });

    for (const id of IDS) {
      expect([id, countRuns(whole.folder, id)]).toEqual([id, 1]);
      const call = await turn.call(id);
      expect(call).toMatchObject({ status: 'exited', exitCode: 0 });
      expect(call.result?.text).toMatch(new RegExp(`^y-${id}\n\\[exit 0 after `));
      const starts = whole.proxy.of('start', call.key);
      expect(starts.map(({ fault, answer }) => [fault, answer?.['outcome']])).toEqual([
        [FAULTS[id], 'started'],
        [undefined, 'attached'],
      ]);
      // One attempt: a lost answer is asked for again where it was lost.
      expect(await turn.execution(id)).toMatchObject({ attempt: 1, end: 'completed' });
    }

    const { key, nonce, target } = await turn.call('cut');
    if (target === undefined) throw new Error('a dispatched call has a target');
    const other = {
      target,
      chatId: whole.chatId,
      key,
      nonce,
      background: false,
      command: logged(whole.folder, 'other'),
    };
    await expect(whole.agent.client.start(other)).rejects.toMatchObject({ code: 'input_mismatch' });
    expect(countRuns(whole.folder, 'other')).toBe(0);
  });
});
