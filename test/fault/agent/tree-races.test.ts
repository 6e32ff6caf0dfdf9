/** The danger: a cancel that meets the end of a command tells a kill that was none, or hides one that was. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  AgentProcess,
  awaitEnd,
  countRuns,
  keyed,
  logged,
  makeAgentFolder,
  startRequest,
} from '../../fixtures/agent-process.ts';
import { TREES, wordsFor } from '../../fixtures/command-trees.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const ROUNDS = process.env['LATCHKEY_LONG'] === undefined ? 40 : 200;
/** Cancels come this long before or after the middle, at most; the middle is this long after the command has begun. */
const SPREAD_MS = 50;
const MIDDLE_MS = 60;
/** A command that was killed makes the next ones shorter by this, one that ended by itself longer: so they keep meeting. */
const STEP_MS = 20;
const ROUND_MS_MAX = 3000;

for (const tree of TREES) {
  test(
    `B04: a cancel that races the exit, ${ROUNDS} rounds by ${tree}, tells the true end: never a real exit as canceled, nor a kill as real`,
    { timeout: ROUNDS * ROUND_MS_MAX },
    async () => {
      const folder = makeAgentFolder();
      const agent = await AgentProcess.start(folder, { words: wordsFor(tree) });
      const target = await agent.target();
      const ends = { real: 0, killed: 0 };
      let lengthMs = 2 * MIDDLE_MS;
      for (let round = 1; round <= ROUNDS; round++) {
        const key = `${round}-race`;
        // Half of them ignore TERM: with a grace longer than they last, they always end by themselves.
        const isDeadly = round % 2 === 0;
        const ending = logged(folder, key, `sleep ${lengthMs / 1000}; exit 7`);
        const command = isDeadly ? ending : `trap '' TERM; ${ending}`;
        await agent.client.start(startRequest(target, key, command));
        await waitUntil('it has set itself up', () => countRuns(folder, key) === 1);
        const offsetMs = ((round * 37) % (2 * SPREAD_MS + 1)) - SPREAD_MS;
        await delay(MIDDLE_MS + offsetMs);
        const canceled = await agent.client.cancel({ ...keyed(target, key), mode: 'kill', graceMs: 10_000 });
        const { exit } = canceled;
        expect({ key, ...canceled }).toMatchObject({ state: 'exited', survivors: [] });
        expect([7, 143]).toContain(exit?.code);
        expect({ key, code: exit?.code, killedBy: exit?.killedBy }).toEqual({
          key,
          code: exit?.code,
          killedBy: exit?.code === 7 ? undefined : 'cancel',
        });
        expect((await awaitEnd(agent.client, target, key)).exit).toEqual(exit);
        expect(await agent.client.cancel({ ...keyed(target, key), mode: 'kill' })).toMatchObject({ exit });
        expect(countRuns(folder, key)).toBe(1);
        if (!isDeadly) {
          expect(exit?.code).toBe(7);
          continue;
        }
        if (exit?.code === 7) ends.real += 1;
        else ends.killed += 1;
        lengthMs = Math.max(STEP_MS, lengthMs + (exit?.code === 7 ? STEP_MS : -STEP_MS));
      }
      // Otherwise the rounds met no race.
      expect(ends.real).toBeGreaterThan(0);
      expect(ends.killed).toBeGreaterThan(0);
    },
  );
}
