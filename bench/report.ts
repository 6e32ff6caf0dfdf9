/** The figures as lines for people. */
import { AIMS, isMet } from './aims.ts';
import type { Ratios } from './aims.ts';
import type { HistorySize } from './histories.ts';
import type { Figures } from './measure.ts';
import type { Memory } from './process-figures.ts';
import type { Rate } from './side-by-side.ts';
import type { Figure } from './statistics.ts';

export function describeFigures(figures: Figures): string[] {
  const { latencies, sideBySide, burst, history, longChats, reAttach, memory } = figures;
  const plainSize = `worker of ${Math.round(memory.plainWorker.residentMiB)} MiB`;
  return [
    'One after the other (median, p95, samples)',
    row('a  no-op activity', latencies.noOpActivityMs),
    row(`b  plain activity that spawns (${plainSize})`, latencies.plainActivityMs),
    row('c  execute of `true`, as an activity', latencies.executeMs),
    row('   the same in a turn, its result stored', latencies.callInTurnMs),
    row('   with its model call (scripted)', latencies.stepInTurnMs),
    row('d  agent: start to exit, output read', latencies.agentStartToExitMs),
    row('   the same without a cgroup of its own', latencies.agentWithoutCgroupMs),
    row('e  bare spawn from a small process', latencies.bareSpawnMs),
    '',
    `${sideBySide.count} side by side: calls a second, and CPU milliseconds a call`,
    rateRow('plain activities', sideBySide.plain),
    rateRow('execute activities', sideBySide.execute),
    rateRow('calls of whole turns', sideBySide.turns),
    '',
    `${burst.count} starts at once, to the last exit`,
    row('by the agent', burst.agentMs),
    row('bare spawns', burst.bareMs),
    row('slowest answer of the agent meanwhile', burst.slowestInfoMs),
    '',
    'History of a turn, for one more of',
    historyRow('call, ending apart from the others', history.perCall),
    historyRow('call, ending together', history.perCallTogether),
    historyRow('step of one call, with its model call', history.perStep),
    '',
    'Length of the conversation',
    ...[longChats.short, longChats.long].flatMap(({ messages, callMs, stepMs }) => [
      row(`call at ${messages} messages`, callMs),
      row('   with its model call', stepMs),
    ]),
    '',
    `Re-attach by a second worker (heartbeat time-out ${reAttach.heartbeatTimeoutMs} ms)`,
    row('after SIGKILL', reAttach.killMs),
    row('after SIGTERM', reAttach.termMs),
    '',
    'Memory (resident, highest)',
    memoryRow('agent at rest', memory.agentAtRest),
    memoryRow('agent after all this', memory.agent),
    memoryRow('execute worker', memory.executeWorker),
    memoryRow('turn worker', memory.turnWorker),
    memoryRow('plain worker', memory.plainWorker),
  ];
}

export function describeRatios(ratios: Ratios): string[] {
  return Object.entries(AIMS).map(([name, aim]) => {
    const ratio = ratios[name as keyof Ratios];
    const verdict = isMet(ratio, aim) ? 'met' : 'MISSED';
    return `  ${name.padEnd(28)} ${round(ratio).padStart(8)}   ${aim.bound} ${round(aim.value)}: ${verdict}`;
  });
}

function row(name: string, { median, p95, count }: Figure): string {
  return line(name, `${ms(median)} ${ms(p95)}   ${count}`);
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`.padStart(11);
}

function rateRow(name: string, { callsPerSecond, cpuMsPerCall }: Rate): string {
  const cpu = Object.entries(cpuMsPerCall).map(([piece, value]) => `${piece} ${value.toFixed(1)}`);
  return line(name, `${callsPerSecond.median.toFixed(1).padStart(8)} /s   ${cpu.join(', ')}`);
}

function historyRow(name: string, { events, bytes, workflowTasks }: HistorySize): string {
  return line(
    name,
    `${events.toFixed(1)} events, ${Math.round(bytes)} bytes, ${workflowTasks.toFixed(1)} workflow tasks`,
  );
}

function memoryRow(name: string, { residentMiB, peakMiB }: Memory): string {
  return line(name, `${residentMiB.toFixed(1)} MiB, ${peakMiB.toFixed(1)} MiB`);
}

function line(name: string, text: string): string {
  return `  ${name.padEnd(50)} ${text}`;
}

/** To what a figure is worth: no more than three digits after the point. */
export function round(value: number): string {
  return String(Number(value.toFixed(Math.abs(value) >= 100 ? 0 : 3)));
}
