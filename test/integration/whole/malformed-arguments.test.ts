import { describe, expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

describe('R7: malformed arguments run nothing, each result names the fault, and this turn and the next go on', () => {
  test('F05: malformed arguments run nothing, each result names the fault, and this turn and the next go on', async () => {
    const whole = await Whole.open();
    const run = JSON.stringify({ command: logged(whole.folder, 'bad') });
    const faults: readonly (readonly [string | object, RegExp])[] = [
      ['', /they are empty/],
      [run.slice(0, -1), /not valid JSON/],
      [JSON.stringify(logged(whole.folder, 'bad')), /a string, not a JSON object/],
      [`[${run}]`, /an array, not a JSON object/],
      ['null', /null, not a JSON object/],
      [{ command: 5 }, /command is not a text/],
      [run + run, /not valid JSON/],
      [{ command: ' ' }, /command is empty/],
      [{ command: logged(whole.folder, 'bad'), timeout_seconds: -1 }, /timeout_seconds/],
      [{ command: logged(whole.folder, 'bad'), workdir: 7 }, /workdir is not a text/],
    ];
    const bad = faults.map(([given], index) => ({ id: `bad${index}`, name: 'execute', arguments: given }));
    const good = { id: 'good', name: 'execute', arguments: { command: logged(whole.folder, 'good') } };
    const turn = await whole.startTurn([{ calls: [...bad, good] }, DONE]);
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: faults.length + 1 });

    for (const [index, [, fault]] of faults.entries()) {
      const call = await turn.call(`bad${index}`);
      expect(call).toMatchObject({ status: 'no_effect', evidence: { code: 'invalid_arguments' } });
      expect(call.result?.text).toMatch(fault);
    }
    expect(countRuns(whole.folder, 'bad')).toBe(0);
    expect(countRuns(whole.folder, 'good')).toBe(1);
    expect((await turn.ended('execute')).map(({ activityId }) => activityId)).toEqual([(await turn.call('good')).key]);

    // The model refuses a history that a provider would refuse, so both turns and their single attempts show a sane one.
    const next = await whole.startTurn([commands({ next: logged(whole.folder, 'next') }), DONE]);
    expect(await next.result()).toMatchObject({ state: 'completed', calls: 1 });
    expect(countRuns(whole.folder, 'next')).toBe(1);
    const generated = [...(await turn.ended('generateStep')), ...(await next.ended('generateStep'))];
    expect(generated.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  });
});
