import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const STORE = join(import.meta.dirname, '../../../../store');
const sources = globSync('**/*.ts', { cwd: STORE }).map((file) => ({
  file,
  text: readFileSync(join(STORE, file), 'utf8'),
}));

test('T1, S1: a transaction begins in transaction.ts only, where a change takes the row of its chat first', () => {
  const beginning = sources.filter(({ text }) => /\.(startT|t)ransaction\(\)/.test(text)).map(({ file }) => file);
  expect(beginning).toEqual(['transaction.ts']);
});
