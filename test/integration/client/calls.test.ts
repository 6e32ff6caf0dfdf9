import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { LatchkeyFolder, PATIENCE_MS } from './latchkey-folder.ts';

describe('latchkey calls', { timeout: 3 * PATIENCE_MS }, () => {
  test('says why a call is stuck when its worker is gone, and shows, reads and cancels it', async () => {
    const folder = new LatchkeyFolder();
    // Other tests use the same server, so only of this chat.
    const chat = `calls-${randomUUID().slice(0, 8)}`;
    const run = folder.latchkey(['run', '--chat', chat, '--model', folder.gatedScript(), 'Wait']);
    await waitUntil('the command runs', () => folder.countRuns() === 1, { deadlineMs: PATIENCE_MS });
    const calm = folder.latchkey(['calls', '--stuck', '--chat', chat]);
    expect(await calm.ended()).toBe(0);
    expect(calm.stdout).toBe('nothing is stuck\n');

    // Without its supervisor nobody starts the execute worker again.
    const record = folder.liveRecord;
    const worker = record?.pieces.find(({ name }) => name === 'execute worker');
    process.kill(record?.supervisor.pid ?? 0, 'SIGKILL');
    process.kill(worker?.process.pid ?? 0, 'SIGKILL');
    const places = {
      LATCHKEY_STORE: record?.places?.storeUrl ?? '',
      LATCHKEY_AGENT_ADDRESS: record?.places?.agentAddress ?? '',
    };
    const isStuck = async (): Promise<boolean> => {
      const look = folder.latchkey(['calls', '--stuck', '--chat', chat, '--json'], places);
      const exitCode = await look.ended();
      const text = look.stdout;
      return exitCode === 1 && /"code":"(heartbeat_overdue|not_taken|no_worker)"/.test(text);
    };
    await waitUntil('the call is said to be stuck', isStuck, { deadlineMs: PATIENCE_MS });

    const unasked = folder.latchkey(['calls', '--stuck', '--json'], { ...places, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(await unasked.ended()).toBe(125);
    expect(unasked.json[0]).toMatchObject({ calls: [], notes: [expect.stringMatching(/127\.0\.0\.1:1.* open: 1\./s)] });

    const shown = folder.latchkey(['call', 'show', '2-a'], places);
    expect(await shown.ended()).toBe(0);
    expect(shown.stdout).toMatch(/^status +running$/m);
    expect(shown.stdout).toMatch(/^stuck /m);
    const output = folder.latchkey(['call', 'output', '2-a'], places);
    expect(await output.ended()).toBe(0);
    expect(output.stdout).toBe('waiting\n');
    const cancel = folder.latchkey(['call', 'cancel', '2-a'], places);
    expect(await cancel.ended()).toBe(0);
    expect(cancel.stdout).toBe('2-a: exited (exit 143, SIGTERM)\n');

    // With its pieces back the turn goes on with that end.
    run.child.kill('SIGKILL');
    const watcher = folder.latchkey(['run', '--attach']);
    expect(await watcher.ended()).toBe(0);
    expect(watcher.stderr).toContain('canceled, exit 143');
    expect(folder.countRuns()).toBe(1);
    expect(folder.running).toEqual([]);
    const later = folder.latchkey(['call', 'output', '2-a']);
    expect(await later.ended()).toBe(0);
    expect(later.stdout).toMatch(/waiting\n\[canceled: stopped on request/);
  });
});
