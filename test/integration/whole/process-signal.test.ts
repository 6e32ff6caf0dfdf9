import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';
import type { ScriptStep } from '../../fixtures/whole-turn.ts';

/** Long enough for a second worker to load within the tries of one signal. */
const DESCRIBE_AGENT_MS = 20_000;

const signal = (id: string, handle: string, name: string) => ({
  id,
  name: 'process_signal',
  arguments: { handle, signal: name },
});

describe('B08: a signal whose worker dies before it reports is sent once, and none is sent to what has ended or is unknown', () => {
  test('I07: a signal whose worker dies before it reports is sent once, and none is sent to what has ended or is unknown', async () => {
    const whole = await Whole.open({ executeEnv: { LATCHKEY_FAULT_AT: 'signal-before-report' } });
    const { root, runLog } = whole.folder;
    const ready = join(root, 'ready');
    const server = `trap "echo usr1 >> '${runLog}'" USR1; touch '${ready}'; while :; do sleep 0.2; done`;
    const steps: ScriptStep[] = [
      commands({ server: { command: server, background: true } }),
      commands({ wait: `until [ -e '${ready}' ]; do sleep 0.1; done` }),
      { calls: [signal('once', 'p1', 'SIGUSR1')] },
      // Two times its loop: a second signal would have been noted by now.
      commands({ look: `until [ -s '${runLog}' ]; do sleep 0.1; done; sleep 0.5` }),
      { calls: [signal('term', 'p1', 'term')] },
      { calls: [signal('late', 'p1', 'SIGTERM'), signal('foreign', 'p99', 'SIGTERM'), signal('bad', 'p1', 'SIGNONE')] },
      DONE,
    ];
    const turn = await whole.startTurn(steps, { timings: { describeAgentMs: DESCRIBE_AGENT_MS } });
    await turn.until('the worker has died at its fault point', () => whole.worker('execute-worker').hasEnded);
    await whole.startExecuteWorker();
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: 8 });

    expect(readFileSync(runLog, 'utf8')).toBe('usr1\n');
    const end = async (id: string) => {
      const { status, evidence, result } = await turn.call(id);
      return [status, evidence?.code, result?.text, result?.isError];
    };
    const sent = expect.stringMatching(
      /^\[SIGUSR1 was sent to process p1; an earlier try .* sent once\. .* is running\]$/,
    );
    expect(await end('once')).toEqual(['exited', 'signalled', sent, false]);
    const once = whole.proxy.of('signal').filter(({ body }) => body['signal'] === 'SIGUSR1');
    expect(once.map(({ answer }) => answer?.['outcome'])).toEqual(['sent', 'repeated']);
    const killed = expect.stringMatching(
      /^\[SIGTERM was sent to process p1\. .* has ended: .*this chat sent \(exit 143, SIGTERM/,
    );
    expect(await end('term')).toEqual(['exited', 'signalled', killed, false]);
    const ended = expect.stringMatching(/^\[nothing was sent: process p1 has ended: .*SIGTERM/);
    expect(await end('late')).toEqual(['no_effect', 'void', ended, true]);
    // A4: it may be another chat's.
    const unknown = expect.stringMatching(
      /^\[nothing was sent to process p99: this chat has no such process; process_list/,
    );
    expect(await end('foreign')).toEqual(['no_effect', 'invalid_arguments', unknown, true]);
    const refused = expect.stringMatching(/signal "SIGNONE" can't be sent; give one of SIGHUP, /);
    expect(await end('bad')).toEqual(['no_effect', 'invalid_arguments', refused, true]);
  });
});
