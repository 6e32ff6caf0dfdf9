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

const ROUNDS = process.env['LATCHKEY_LONG'] === undefined ? 40 : 200;
/** Cancels come this long before or after the expected end, at most. */
const SPREAD_MS = 50;
const RUN_MS = 120;
/** Half of the commands ignore TERM: with the grace longer than they last, they always end by themselves. */
const COMMANDS = [`sleep ${RUN_MS / 1000}; exit 7`, `trap '' TERM; sleep ${RUN_MS / 1000}; exit 7`];

for (const tree of TREES) {
  test(`B04: a cancel that races the exit, ${ROUNDS} rounds by ${tree}, tells the true end: never a real exit as canceled, nor a kill as real`, async () => {
    const folder = makeAgentFolder();
    const agent = await AgentProcess.start(folder, { words: wordsFor(tree) });
    const target = await agent.target();
    const ends = { real: 0, killed: 0 };
    // The time from the answer of `start` to the real end, as seen in earlier rounds: the machine may be slow.
    let expectedMs = RUN_MS;
    for (let round = 1; round <= ROUNDS; round++) {
      const key = `${round}-race`;
      const command = logged(folder, key, COMMANDS[round % COMMANDS.length]);
      await agent.client.start(startRequest(target, key, command));
      const offsetMs = ((round * 37) % (2 * SPREAD_MS + 1)) - SPREAD_MS;
      const began = performance.now();
      const ended = agent.client
        .output({ ...keyed(target, key), waitMs: 10_000 })
        .then(() => performance.now() - began);
      await delay(Math.max(0, expectedMs + offsetMs));
      const canceled = await agent.client.cancel({ ...keyed(target, key), mode: 'kill', graceMs: 10_000 });
      const tookMs = await ended;
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
      if (exit?.code === 7) {
        ends.real += 1;
        expectedMs = tookMs;
      } else ends.killed += 1;
    }
    // Otherwise the rounds met no race.
    expect(ends.real).toBeGreaterThan(0);
    expect(ends.killed).toBeGreaterThan(0);
  });
}
