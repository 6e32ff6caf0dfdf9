/** The danger: many ask for one key at the same instant. */
import { expect, test } from 'vitest';
import { createAgentClient } from '../../../agent-client/agent-client.ts';
import {
  AgentProcess,
  awaitEnd,
  countRuns,
  logged,
  makeAgentFolder,
  startRequest,
} from '../../fixtures/agent-process.ts';

const ROUNDS = process.env['LATCHKEY_LONG'] === undefined ? 40 : 200;
const CALLERS = 50;

test(`A04, K1: ${CALLERS} starts of one key at the same instant, ${ROUNDS} rounds, give one run and equal answers each`, async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  // Two clients, so that the starts also come over several connections.
  const second = createAgentClient({ address: `unix:${folder.state}/agent.sock` });
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      const key = `${round}-same`;
      const request = startRequest(target, key, logged(folder, key));
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, (_, caller) => (caller % 2 === 0 ? agent.client : second).start(request)),
      );
      const told = answers.map((answer) => (answer.outcome === 'absent' ? '' : `${answer.handle} ${answer.startedAt}`));
      expect(new Set(told).size).toBe(1);
      expect(answers.filter((answer) => answer.outcome === 'started')).toHaveLength(1);
      await awaitEnd(agent.client, target, key);
      expect(countRuns(folder, key)).toBe(1);
    }
  } finally {
    await second.close();
  }
});
