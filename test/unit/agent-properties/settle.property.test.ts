import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { Settlement } from '../../../agent/keeper/settle.ts';
import { settleAttempt } from '../../../agent/keeper/settle.ts';
import type { AttemptStory } from './attempt-model.ts';
import { EXIT_CODE, makeModelFifo, ModelledAttempt, OPERATIONS } from './attempt-model.ts';

const WRITES = OPERATIONS.filter((operation) => operation.startsWith('write') || operation === 'reserve exit');

const story: fc.Arbitrary<AttemptStory> = fc.record({
  last: fc.constantFrom(...OPERATIONS),
  full: fc.option(fc.record({ at: fc.constantFrom(...WRITES), bytesWritten: fc.integer({ min: 0, max: 24 }) }), {
    nil: undefined,
  }),
  isKeeperDead: fc.boolean(),
  isChildDead: fc.boolean(),
  hasStranger: fc.boolean(),
});

interface Look {
  readonly isSameBoot: boolean;
  readonly isSameNamespace: boolean;
}

/** Settles twice: the second look must see what the first one saw. */
function settleTwice(attempt: ModelledAttempt, look: Look): Settlement {
  const context = { folder: attempt.folder, ...look };
  const settlement = settleAttempt(context);
  expect(settleAttempt(context)).toEqual(settlement);
  return settlement;
}

function check(runs: number, look: Look, assertion: (attempt: ModelledAttempt, settlement: Settlement) => void): void {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-model-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  makeModelFifo(root);
  fc.assert(
    fc.property(story, (told) => {
      const attempt = new ModelledAttempt(root, told);
      try {
        assertion(attempt, settleTwice(attempt, look));
      } finally {
        attempt.dispose();
      }
    }),
    { numRuns: runs },
  );
}

const HERE = { isSameBoot: true, isSameNamespace: true };

test('D06, K1, K2: of any beginning of a start, with the disk full at any write and anybody dead, settle tells what is true', () => {
  check(400, HERE, (attempt, settlement) => {
    switch (settlement.kind) {
      case 'void':
        expect(attempt.isStartedComplete).toBe(false);
        expect(attempt.hasExecuted).toBe(false);
        expect(attempt.canStillExecute).toBe(false);
        // Whoever comes late finds the claim taken.
        expect(existsSync(join(attempt.folder, 'claim'))).toBe(true);
        break;
      case 'exited':
        expect(attempt.isExitComplete).toBe(true);
        expect(settlement.exit.code).toBe(EXIT_CODE);
        break;
      case 'spawn_failed':
        expect(attempt.isFailedComplete).toBe(true);
        expect(attempt.hasExecuted).toBe(false);
        break;
      case 'held':
        expect(attempt.isHeld).toBe(true);
        break;
      case 'orphaned':
        expect(attempt.isCommandAlive).toBe(true);
        break;
      case 'lost':
        expect(attempt.isStartedComplete).toBe(true);
        expect(attempt.isCommandAlive).toBe(false);
        expect(attempt.canStillExecute).toBe(false);
        break;
    }
    if (attempt.isExitComplete) expect(settlement.kind).toBe('exited');
  });
});

test('D08: the same holds in another pid namespace, where a living command can only be called lost', () => {
  check(200, { isSameBoot: true, isSameNamespace: false }, (attempt, settlement) => {
    expect(settlement.kind).not.toBe('orphaned');
    if (settlement.kind === 'void') expect(attempt.hasExecuted || attempt.canStillExecute).toBe(false);
    if (settlement.kind === 'exited') expect(attempt.isExitComplete).toBe(true);
    if (attempt.isStartedComplete) expect(settlement.kind).not.toBe('void');
  });
});

test('D04: in another boot only what is complete on disk counts, and everything else is lost, never void', () => {
  check(200, { isSameBoot: false, isSameNamespace: false }, (attempt, settlement) => {
    const expected = attempt.isExitComplete ? 'exited' : attempt.isFailedComplete ? 'spawn_failed' : 'lost';
    expect(settlement.kind).toBe(expected);
  });
});
