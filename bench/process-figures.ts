/** What the kernel says of a process: memory and CPU time (Linux only). */
import { readFileSync } from 'node:fs';

const KIB_PER_MIB = 1024;
/** USER_HZ: the unit of /proc's times towards user space is fixed at 100 a second. */
const MS_PER_TICK = 10;

export interface Memory {
  readonly residentMiB: number;
  readonly peakMiB: number;
}

export function readMemory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / KIB_PER_MIB;
  return { residentMiB: field('VmRSS'), peakMiB: field('VmHWM') };
}

/** User and system time so far, with that of its ended children. */
export function readCpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // After the name, which may hold anything: fields 14 to 17 of proc(5), counted from field 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
}
