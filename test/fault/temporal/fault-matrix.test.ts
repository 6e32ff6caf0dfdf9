/** The danger: workers die at any point of their work, while server, agent and lines fail. The short form of the sweep. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { FaultSweep } from '../../fault-matrix/fault-sweep.ts';

const TIMEOUT_MS = 400_000;

test(
  'K1, K5, C1, C2, C3, T1: a worker dies at every named point under turns of all kinds, and nothing runs twice, is lost, or hangs',
  async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const sweep = new FaultSweep({ size: 'short', seed, workflowBundle: inject('workflowBundlePath') });
    onTestFinished(() => sweep.dispose());
    await sweep.run();
    const { tally } = sweep;
    expect(tally.violations, `npm run crash-matrix -- --only temporal --short --seed ${seed}`).toEqual([]);
    expect(tally.missedPoints).toEqual([]);
  },
  TIMEOUT_MS,
);
