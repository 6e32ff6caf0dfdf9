import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { KINDS } from './kinds.ts';
import { attributesOf, listGenerations, readHistories } from './recorded-history.ts';
import { replay } from './replay.ts';

const histories = listGenerations().flatMap((generation) => readHistories(generation));
const newest = histories.filter(({ generation }) => generation === listGenerations().at(-1));

describe('the recorded histories', () => {
  test('replay against the workflow code as it is', async () => {
    const ends = await replay({ codePath: inject('workflowBundlePath') }, histories);
    expect(Object.entries(ends).filter(([, error]) => error !== undefined)).toEqual([]);
    expect(Object.keys(ends)).toHaveLength(histories.length);
  });

  test('are of each workflow that there is', () => {
    const index = readFileSync(join(import.meta.dirname, '../../workflows/index.ts'), 'utf8');
    const exported = (/^export \{ (.*) \};$/m.exec(index)?.[1] ?? '').split(', ');
    const started = newest.flatMap((history) => attributesOf(history, 'workflowExecutionStarted'));
    const recorded = new Set(started.map(({ workflowType }) => (workflowType as { name?: string }).name ?? ''));
    expect([...recorded].toSorted()).toEqual(exported.toSorted());
  });

  test.each(KINDS)('hold what makes them "$name", in the newest generation', ({ name, facts }) => {
    const parts = newest.filter(({ kind }) => kind === name).map((history) => [history.part, history] as const);
    expect(parts.length, `no history of ${name}: npm run record-histories`).toBeGreaterThan(0);
    const untrue = Object.entries(facts(Object.fromEntries(parts))).filter(([, isTrue]) => !isTrue);
    expect(untrue.map(([fact]) => fact)).toEqual([]);
  });

  test('tell nothing of the machine that they were recorded on', () => {
    const traces = histories.flatMap(({ generation, kind, part, events }) => {
      const text = JSON.stringify(events).replaceAll(/"data":"([^"]*)"/g, (_, data: string) =>
        Buffer.from(data, 'base64').toString(),
      );
      return [...text.matchAll(/\/(root|tmp|work|home\/\w+)\/.{20}/g)].map(
        ([trace]) => `${generation}/${kind}.${part}: ${trace}`,
      );
    });
    expect(traces).toEqual([]);
  });
});

/** Taken out of, or put into, the code that replays: which kinds notice. Each text is in the bundle once. */
const MUTATIONS = [
  {
    what: 'one activity more at the beginning of a turn',
    from: 'await takeTurn(context)',
    to: '(await takeTurn(context), await takeTurn(context))',
    red: ['plain.turn', 'crash-retried.turn', 'resolved.turn', 'continued-as-new.run-1'],
    green: ['continued-as-new.run-2', 'settled.settle', 'swept.sweep'],
  },
  {
    what: 'an interrupt that is not noted in the row',
    from: 'noteCancelRequest(context, record)',
    to: 'Promise.resolve()',
    red: ['interrupted.by-update', 'interrupted.by-cancel', 'settled.turn'],
    green: ['plain.turn', 'crash-retried.turn', 'resolved.turn'],
  },
  {
    what: 'a patch by another name',
    from: "'interrupt-is-recorded-first'",
    to: "'interrupt-is-recorded'",
    red: ['interrupted.by-update'],
    green: ['interrupted.by-cancel', 'plain.turn'],
  },
  {
    what: 'a turn that never moves to a new run',
    from: 'await (0,_temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.makeContinueAsNewFunc)()(state.input',
    to: 'await (async () => undefined)(state.input',
    red: ['continued-as-new.run-1', 'continued-as-new.run-2'],
    green: ['plain.turn', 'continued-as-new.run-3'],
  },
  {
    what: 'a settle that waits before it asks',
    from: 'const asked = ask(context, leftMs)',
    to: 'await (0,_temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.condition)(() => false, 1000); const asked = ask(context, leftMs)',
    red: ['settled.settle'],
    green: ['settled.turn', 'plain.turn', 'swept.sweep'],
  },
  {
    what: 'a chat that never moves to a new run',
    from: 'updates >= (updatesMax !== null && updatesMax !== void 0 ?',
    to: 'updates >= (false ?',
    red: ['chatted.run-1', 'chatted.run-2'],
    green: ['chatted.run-3', 'plain.turn'],
  },
  {
    what: 'a notice that waits before it is told',
    from: 'notice(input) {',
    to: 'notice(input) { await (0,_temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.condition)(() => false, 1000);',
    red: ['noticed.notice'],
    green: ['noticed.turn', 'plain.turn'],
  },
];

describe('a change that does not replay turns red', () => {
  test.each(MUTATIONS)('$what', async ({ from, to, red, green }) => {
    const parts = readFileSync(inject('workflowBundlePath'), 'utf8').split(from);
    expect(parts.length - 1, `how often the bundle has "${from}"`).toBe(1);
    const names = [...red, ...green];
    const asked = newest.filter(({ kind, part }) => names.includes(`${kind}.${part}`));
    const ends = await replay({ code: parts.join(to) }, asked);
    const failed = Object.entries(ends).filter(([, error]) => error !== undefined);
    expect(failed.map(([name]) => name.replace(/^\d+\//, '')).toSorted()).toEqual(red.toSorted());
    for (const [, error] of failed) expect(error).toMatch(/nondeterminism/i);
  });
});

test('the workflows are bundled from their folder and from the contract alone, which are what a kept bundle is known by', () => {
  const root = join(import.meta.dirname, '../..');
  const map = /\n\/\/# sourceMappingURL=data:application\/json;[^,]*;base64,(\S+)\s*$/.exec(
    readFileSync(inject('workflowBundlePath'), 'utf8'),
  );
  const { sources } = JSON.parse(Buffer.from(map?.[1] ?? '', 'base64').toString()) as { sources: string[] };
  const own = sources.filter((file) => isAbsolute(file) && !file.includes('/node_modules/'));
  const folders = own.map((file) => relative(root, file).split(sep)[0]);
  expect(new Set(folders)).toEqual(new Set(['workflows', 'contract']));
});
