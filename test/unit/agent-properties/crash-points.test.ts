import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CRASH_POINTS, KEEPER_POINTS } from '../../../agent/crash-points.ts';

const AGENT = join(import.meta.dirname, '../../../agent');

test('every crash point of the daemon is passed at exactly one place', () => {
  const sources = globSync('**/*.ts', { cwd: AGENT }).map((file) => readFileSync(join(AGENT, file), 'utf8'));
  const passed = sources.flatMap((text) => [...text.matchAll(/\bcrashPoint\('([a-z-]+)'\)/g)].map(([, name]) => name));
  expect(new Set(passed)).toEqual(new Set(Object.keys(CRASH_POINTS)));
  expect(passed).toHaveLength(Object.keys(CRASH_POINTS).length);
});

test('every crash point of the keeper is one comment in keeper.sh', () => {
  const script = readFileSync(join(AGENT, 'keeper/keeper.sh'), 'utf8');
  const commented = [...script.matchAll(/^ *# point: ([a-z-]+)$/gm)].map(([, name]) => name);
  expect(new Set(commented)).toEqual(new Set(Object.keys(KEEPER_POINTS)));
  expect(commented).toHaveLength(Object.keys(KEEPER_POINTS).length);
});
