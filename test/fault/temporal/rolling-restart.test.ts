/** The danger: a deploy. The short form of `npm run rolling-restart`. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { RollingRestartDrill } from '../../rolling-restart/rolling-restart.ts';

const TIMEOUT_MS = 200_000;
/** A task that was in a poll which a deploy closes is lost now and then (docs/temporal-facts.md): 1 of 30 drills or fewer. */
const LOST_MAX = 1;

test(
  'G09, E06: every worker is replaced three times under turns with long commands: no double run, no loss, no error, no attempt cut off',
  async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const workflowBundle = inject('workflowBundlePath');
    const drill = new RollingRestartDrill({ turns: 6, workers: 1, scale: 0.08, seed, workflowBundle });
    onTestFinished(() => drill.dispose());
    const { summary, violations } = await drill.run();
    expect(violations, `seed ${seed}`).toEqual([]);
    expect(summary).toMatchObject({ restarts: 6, doubleRuns: 0, lost: 0, turnsInError: 0, attemptsSpent: 0 });
    expect(summary.attemptsLost).toBeLessThanOrEqual(LOST_MAX);
  },
  TIMEOUT_MS,
);
