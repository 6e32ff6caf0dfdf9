import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { foundSoFar, requireAllPoints, writesDocument } from '../crash-matrix/half.ts';
import type { Half, HalfRequest } from '../crash-matrix/half.ts';
import { endsOf, summarizeFaults, toFaultDocument } from './fault-report.ts';
import { FaultSweep } from './fault-sweep.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/fault-matrix.md');

export function openTemporalHalf(request: HalfRequest): Half {
  const { size, seed, rounds, minutes, isJson, onProgress } = request;
  const sweep = new FaultSweep({ size, seed, minutes, only: rounds, onProgress });
  const { tally } = sweep;
  return {
    async run() {
      const began = performance.now();
      await sweep.run();
      requireAllPoints(request, tally.missedPoints);
      if (!writesDocument(request)) return;
      const amount = size === 'quick' ? ' --quick' : '';
      const time = minutes === undefined ? '' : ` --minutes ${minutes}`;
      const command = `npm run crash-matrix -- --only temporal${amount}${time} --seed ${seed}`;
      const seconds = Math.round((performance.now() - began) / 1000);
      const text = toFaultDocument(tally, { command, seed, seconds });
      writeFileSync(DOCUMENT, await format(text, { parser: 'markdown', printWidth: 120 }));
    },
    dispose: () => sweep.dispose(),
    violations: () => tally.violations.length,
    lines() {
      const ends = endsOf(tally);
      if (!isJson) {
        const table = ends.map(({ end, calls }) => `${String(calls).padStart(6)}  ${end}`);
        return [...table, ...tally.violations.map(({ checker, text }) => `VIOLATION ${checker}: ${text}`)];
      }
      const violations = tally.violations.map(({ checker, text }) => ({ violation: text, checker }));
      return [...ends, ...violations].map((line) => JSON.stringify(line));
    },
    summary: () => ({ temporal: summarizeFaults(tally) }),
    brokenOff(reason) {
      const { kills, turns, violations } = tally;
      return { temporal: { brokenOff: reason, kills, turns, ...foundSoFar(violations.length) } };
    },
  };
}
