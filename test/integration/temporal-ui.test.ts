import { expect, inject, test } from 'vitest';
import { findBrowser } from '../fixtures/browser.ts';
import { TemporalUi } from '../fixtures/temporal-ui.ts';
import { commands, DONE, Whole } from '../fixtures/whole-turn.ts';

const TEST_MS_MAX = 240_000;
const LOOK = 'printf "a b" | wc -w || echo none';
const FAIL = 'echo no >&2; exit 3';
/** Longer than the test: the interrupt at its end kills it. */
const WATCH = 'for tick in $(seq 1 3000); do echo "tick $tick of 3000"; sleep 0.2; done';

test(
  'E16 (first part): the Temporal UI shows a turn by its commands, keys, processes, last lines and search attributes',
  { timeout: TEST_MS_MAX },
  async ({ skip }) => {
    const browser = inject('temporalUiUrl') === '' ? NO_UI : await findBrowser();
    if ('skipReason' in browser) {
      console.warn(`the Temporal UI was NOT looked at: ${browser.skipReason}`);
      return skip(browser.skipReason);
    }
    const whole = await Whole.open();
    const { chatId } = whole;
    const { agentId } = await whole.agent.target();
    const turn = await whole.startTurn([commands({ look: LOOK, fail: FAIL }), commands({ watch: WATCH }), DONE]);
    await turn.until('the long command is committed', () => turn.findCall('watch'));
    const [look, fail, watch] = await turn.calls();
    const { workflowId } = turn.handle;
    const { runId } = await turn.handle.describe();
    const page = `workflows/${encodeURIComponent(workflowId)}/${runId}`;
    const ui = await TemporalUi.open(browser.path);

    await ui.open(`${page}/history`);
    await ui.shows('history', [
      `execute • $ ${LOOK}`,
      `execute • $ ${FAIL}`,
      `Attempt 1 / ∞ • execute • $ ${WATCH}`,
      'generateStep • step 2',
      `Local Activity Activity Type recordResult Summary ${fail?.key} exited`,
    ]);

    await ui.open(`${page}/pending-activities`);
    const pending = await ui.shows('pending-activities', [
      `Activity ID ${watch?.key}`,
      'Attempt 1 of Unlimited',
      'Last Started Time',
      `Last Worker Identity execute@${agentId}`,
      `"key": "${watch?.key}"`,
      '"phase": "running"',
      '"lastLine": "tick ',
    ]);
    expect(pending).toMatch(
      /"handle": "p\d+".*"started": "20.*"deadline": "20.*"bytes": \d+.*"lastLine": "tick \d+ of/,
    );

    await ui.open(`${page}/user-metadata`);
    await ui.shows('user-metadata', ['message 1', watch?.key ?? '', 'see Pending Activities']);
    expect(await ui.tableRows()).toEqual([
      ['key', 'status', 'handle', 'evidence', 'summary'],
      [look?.key, 'exited', expect.stringMatching(/^p\d+$/), 'exit 0', `$ ${LOOK}`],
      [fail?.key, 'exited', expect.stringMatching(/^p\d+$/), 'exit 3', `$ ${FAIL}`],
      [watch?.key, 'starting', '', 'see Pending Activities', expect.stringContaining('$ for tick in ')],
    ]);

    const search = (state: string): string =>
      `workflows?query=${encodeURIComponent(`ChatId="${chatId}" AND AgentId="${agentId}" AND TurnState="${state}"`)}`;
    await ui.open(search('running'));
    await ui.shows('list', ['1 Workflow', workflowId]);

    await turn.handle.cancel();
    expect(await turn.result()).toMatchObject({ state: 'interrupted' });
    await ui.open(`${page}/user-metadata`);
    await ui.shows('user-metadata-at-end', [`${watch?.key} canceled p3 killed, exit`]);
    await ui.open(search('interrupted'));
    await ui.shows('list-at-end', ['1 Workflow', workflowId]);
  },
);

const NO_UI = { skipReason: 'the UI of the server at TEMPORAL_ADDRESS is not known' };
