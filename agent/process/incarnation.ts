/** Which life of the machine (or container) this is: a pid or "is running" recorded in another one proves nothing. */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import type { Incarnation } from '../../contract/ids.ts';
import { readIdentity } from './identity.ts';

/** 64 bits: nobody attacks it, two lives of one workspace must only never be equal by chance. */
const INCARNATION_HEX_DIGITS = 16;

/**
 * The kernel's random id of this boot. A container has its host's.
 * `LATCHKEY_SIMULATED_BOOT_ID` replaces it, for tests only: a test can't reboot the machine.
 */
export function bootId(): string {
  return process.env['LATCHKEY_SIMULATED_BOOT_ID'] || readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** The inode of our pid namespace: a restarted container has the same boot id, its processes are gone all the same. */
export function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
}

/** The machine's own id, or an empty text where it has none (many containers). */
export function machineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Digest of boot id, machine id, pid namespace and the start time of its process 1 (a namespace's number may be used
 * again within a boot, L13). Equal as long as a process that was started can still be alive under its pid.
 */
export function computeIncarnation(): Incarnation {
  // Where process 1 is hidden from us (hidepid) the other three have to do.
  const firstProcessStart = readIdentity(1)?.startTimeTicks ?? 'hidden';
  const parts = [bootId(), machineId(), pidNamespace(), firstProcessStart];
  return createHash('sha256')
    .update(JSON.stringify(parts))
    .digest('hex')
    .slice(0, INCARNATION_HEX_DIGITS) as Incarnation;
}
