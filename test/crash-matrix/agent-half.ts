import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { foundSoFar, requireAllPoints, writesDocument } from './half.ts';
import type { Half, HalfRequest } from './half.ts';
import { summarize, tableOf, toDocument, toText } from './report.ts';
import { Sweep } from './sweep.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/crash-matrix.md');

export function openAgentHalf(request: HalfRequest): Half {
  const { size, seed, rounds, isJson, onProgress } = request;
  const sweep = new Sweep({ size, seed, only: rounds, onProgress });
  const { tally } = sweep;
  return {
    async run() {
      const began = performance.now();
      await sweep.run();
      requireAllPoints(request, tally.missedPoints);
      if (!writesDocument(request)) return;
      const command = `npm run crash-matrix --${size === 'quick' ? ' --quick' : ''} --seed ${seed}`;
      const seconds = Math.round((performance.now() - began) / 1000);
      const text = toDocument(tally, { command, seed, seconds, keys: sweep.keyCount });
      writeFileSync(DOCUMENT, await format(text, { parser: 'markdown', printWidth: 120 }));
    },
    dispose: () => sweep.dispose(),
    violations: () => tally.violations.length,
    lines() {
      if (!isJson) return [toText(tableOf(tally.observations)), ...tally.violations.map((text) => `VIOLATION ${text}`)];
      const violations = tally.violations.map((violation) => ({ violation }));
      return [...tally.observations, ...violations].map((line) => JSON.stringify(line));
    },
    summary: () => summarize(tally, sweep.keyCount),
    brokenOff: (reason) => ({
      brokenOff: reason,
      kills: tally.kills,
      keys: sweep.keyCount,
      ...foundSoFar(tally.violations.length),
    }),
  };
}
