/** The processes of one lane: everything with its folder in command line, environment or working directory. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface LaneProcess {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly name: string;
  readonly commandLine: string;
  readonly environment: string;
}

/** Living ones only; never this process. */
export function listLaneProcesses(root: string): LaneProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
        const folder = readlinkSync(`/proc/${name}/cwd`);
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const isOurs = [commandLine, environment, folder].some((text) => text.includes(root));
        if (!isOurs || state === 'Z' || state === 'X') return [];
        const comm = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
        return [
          { pid: Number(name), parent: Number(parent), session: Number(session), name: comm, commandLine, environment },
        ];
      } catch {
        // Gone in the meantime, or another user's.
        return [];
      }
    });
}

export function killByPid(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // Gone in the meantime.
    return false;
  }
}

/** Until a look finds none: what was forked while we looked is found by the next one. */
export function killLaneProcesses(root: string): void {
  for (let found = listLaneProcesses(root); found.length > 0; found = listLaneProcesses(root)) {
    for (const { pid } of found) killByPid(pid);
  }
}
