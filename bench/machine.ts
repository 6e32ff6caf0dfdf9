import { cpus, loadavg, totalmem } from 'node:os';

export function describeMachine() {
  const [cpu] = cpus();
  return {
    cores: cpus().length,
    model: cpu?.model ?? 'unknown processor',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    /** Of the minute before: what else the machine was doing. */
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    node: process.version,
  };
}
