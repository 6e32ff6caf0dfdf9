import { describe, expect, test } from 'vitest';
import { waitUntil } from '../../fixtures/wait-until.ts';
import { LatchkeyFolder, PATIENCE_MS } from './latchkey-folder.ts';

describe('latchkey dev', { timeout: 2 * PATIENCE_MS }, () => {
  test('starts again what was killed, server included, at the same address, and ends all at Ctrl-C', async () => {
    const folder = new LatchkeyFolder({ ownServer: true });
    const dev = folder.latchkey(['dev']);
    await dev.said(/^ready for /m);
    const pidOf = (name: string): number => {
      return folder.liveRecord?.pieces.find((piece) => piece.name === name)?.process.pid ?? 0;
    };
    const address = folder.liveRecord?.places?.temporalAddress;
    for (const name of ['temporal server', 'agent', 'execute worker', 'turn worker']) {
      const killed = pidOf(name);
      process.kill(killed, 'SIGKILL');
      await waitUntil(`the ${name} runs again`, () => ![0, killed].includes(pidOf(name)), {
        deadlineMs: PATIENCE_MS,
        describe: () => dev.stdout,
      });
    }
    expect(folder.liveRecord?.places?.temporalAddress).toBe(address);

    const second = folder.latchkey(['dev']);
    expect(await second.ended()).toBe(125);
    expect(second.stderr).toMatch(/another supervisor runs this stage .* \(pid \d+\).*latchkey dev stop/);
    const model = folder.script('echo one');
    const run = folder.latchkey(['run', '--chat', 'mine', '--model', model, 'Look']);
    expect(await run.ended()).toBe(0);
    // A chat keeps its model, whatever the shell's variable says; only --model changes it, and that is told.
    const again = folder.latchkey(['run', '--chat', 'mine', '--json', 'Again'], { LATCHKEY_MODEL: 'nobody/nothing' });
    expect(await again.ended()).toBe(0);
    expect(again.json[0]).toMatchObject({ type: 'begin', model });
    expect(again.stderr).not.toContain('answers');
    const other = folder.latchkey(['run', '--chat', 'mine', '--model', 'nobody/nothing', 'Look']);
    expect(await other.ended()).toBe(1);
    expect(other.stderr).toContain(`chat mine: from now on nobody/nothing answers, not ${model}\n`);
    expect(folder.liveRecord?.state).toBe('ready');

    dev.child.kill('SIGINT');
    expect(await dev.ended()).toBe(0);
    expect(folder.running).toEqual([]);
  });

  test('--detached stays until it is stopped, also after a run, and keeps its state', async () => {
    const folder = new LatchkeyFolder();
    const dev = folder.latchkey(['dev', '--detached']);
    expect(await dev.ended()).toBe(0);
    expect(dev.stdout).toMatch(/^ready since .*\n {2}agent +pid \d+/);
    const run = folder.latchkey(['run', '--model', folder.script('echo one'), 'Look']);
    expect(await run.ended()).toBe(0);
    expect(folder.liveRecord?.state).toBe('ready');
    const doctor = folder.latchkey(['doctor', '--json'], { LATCHKEY_MODEL: folder.script('true') });
    expect(await doctor.ended()).toBe(0);
    expect(doctor.json[0]).toMatchObject({ isReady: true });
    const stop = folder.latchkey(['dev', 'stop']);
    expect(await stop.ended()).toBe(0);
    expect(stop.stdout).toMatch(/^ended \(supervisor pid \d+\)$/m);
    expect(folder.running).toEqual([]);
    expect(await folder.latchkey(['dev', 'status']).ended()).toBe(1);
  });

  test('stop ends what a killed supervisor has left', async () => {
    const folder = new LatchkeyFolder();
    expect(await folder.latchkey(['dev', '--detached']).ended()).toBe(0);
    process.kill(folder.liveRecord?.supervisor.pid ?? 0, 'SIGKILL');
    await waitUntil('the supervisor is gone', () => folder.liveRecord === undefined);
    expect(folder.running.length).toBeGreaterThan(0);
    const status = folder.latchkey(['dev', 'status']);
    expect(await status.ended()).toBe(1);
    expect(status.stdout).toMatch(/^ {2}agent +pid \d+$[^]*"latchkey dev stop" ends it/m);
    const stop = folder.latchkey(['dev', 'stop']);
    expect(await stop.ended()).toBe(0);
    expect(stop.stdout).toContain('ended what a killed supervisor had left');
    expect(folder.running).toEqual([]);
    const again = folder.latchkey(['dev', 'stop']);
    expect(await again.ended()).toBe(0);
    expect(again.stdout).toMatch(/^nothing runs for /);
  });
});
