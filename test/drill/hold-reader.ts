/** Makes a command's output hang as a disk does that hangs: the keeper's reader stops before it can say "drained". */
import { readFileSync } from 'node:fs';
import { findMarked } from '../fixtures/processes.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** `mark` is in the command's own text. Returns what lets the reader go on. */
export async function holdReader(root: string, mark: string): Promise<() => void> {
  const pid = await waitUntil(`the reader of ${mark} is there`, () => findReader(root, mark));
  process.kill(pid, 'SIGSTOP');
  return () => {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It was ended with its keeper.
    }
  };
}

/** The keeper is the parent of both; the reader has its command line. */
function findReader(root: string, mark: string): number | undefined {
  const found = findMarked(root);
  const command = found.find(({ commandLine }) => commandLine.includes(mark) && commandLine.includes('RUN_LOG'));
  const keeperPid = command === undefined ? undefined : parentOf(command.pid);
  const keeper = found.find(({ pid }) => pid === keeperPid);
  if (keeper === undefined) return undefined;
  return found.find(({ pid, commandLine }) => commandLine === keeper.commandLine && parentOf(pid) === keeper.pid)?.pid;
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    // Gone in the meantime.
    return undefined;
  }
}
