import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bootClockMs } from '../../../agent/process/boot-clock.ts';
import { bootId, computeIncarnation, pidNamespace } from '../../../agent/process/incarnation.ts';

const execute = promisify(execFile);
const PRINT_INCARNATION = `
  import { computeIncarnation } from ${JSON.stringify(join(import.meta.dirname, '../../../agent/process/incarnation.ts'))};
  console.log(computeIncarnation());`;
const NODE_ARGUMENTS = ['--input-type=module', '-e', PRINT_INCARNATION];
const UNSHARE_ARGUMENTS = ['--pid', '--fork', '--mount-proc'];
const mayUnshare = await execute('unshare', [...UNSHARE_ARGUMENTS, 'true']).then(
  () => true,
  () => false,
);

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('an incarnation', () => {
  test('is the same for every process of this life of the machine', async () => {
    const { stdout } = await execute(process.execPath, NODE_ARGUMENTS);
    expect(stdout.trim()).toBe(computeIncarnation());
    expect(computeIncarnation()).toMatch(/^[0-9a-f]{16}$/);
    expect(pidNamespace()).toMatch(/^[0-9]+$/);
  });

  test('is another one after a reboot', () => {
    const before = computeIncarnation();
    vi.stubEnv('LATCHKEY_SIMULATED_BOOT_ID', 'another-boot');
    expect(bootId()).toBe('another-boot');
    expect(computeIncarnation()).not.toBe(before);
  });

  test.runIf(mayUnshare)('is another one in another pid namespace of the same boot', async () => {
    const { stdout } = await execute('unshare', [...UNSHARE_ARGUMENTS, process.execPath, ...NODE_ARGUMENTS]);
    expect(stdout.trim()).toMatch(/^[0-9a-f]{16}$/);
    expect(stdout.trim()).not.toBe(computeIncarnation());
  });
});

test('the boot clock goes on and is not moved by the wall clock', () => {
  vi.useFakeTimers({ now: 0, toFake: ['Date'] });
  try {
    const before = bootClockMs();
    vi.setSystemTime(3_600_000);
    const passedMs = bootClockMs() - before;
    expect(before).toBeGreaterThan(0);
    expect(passedMs).toBeGreaterThanOrEqual(0);
    expect(passedMs).toBeLessThan(60_000);
  } finally {
    vi.useRealTimers();
  }
});
