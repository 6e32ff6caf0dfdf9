/** The danger: any piece dies at any moment of any conversation. The short form of `npm run conversations`. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { ConversationSweep } from '../../conversations/conversation-sweep.ts';

const COUNT = 20;
const SIDE_BY_SIDE = 10;
const TIMEOUT_MS = 500_000;

test(
  'T2, C1, K1: random conversations over dying pieces: each message is answered once and in order, and store, stream and provider agree',
  async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const sweep = new ConversationSweep({
      seed,
      count: COUNT,
      sideBySide: SIDE_BY_SIDE,
      size: 'short',
      store: 'sqlite',
      workflowBundle: inject('workflowBundlePath'),
    });
    onTestFinished(() => sweep.dispose());
    await sweep.run();
    const found = sweep.violations.map(
      ({ conversation, checker, text }) => `conversation ${conversation}: ${checker}: ${text}`,
    );
    expect(found, `npm run conversations -- --short --count ${COUNT} --seed ${seed}`).toEqual([]);
    expect(sweep.conversations).toBe(COUNT);
    expect(sweep.kills).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
