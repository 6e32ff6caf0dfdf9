/** What the workspace's machine must have: Node, the tools that keepers use, and a place for the state. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { StageFolder } from '../dev/stage-folder.ts';
import type { Finding } from './finding.ts';

const NODE_MAJOR = 24;
const NODE_MINOR = 15;
/** `keeper.sh` and its launch don't work without these. */
const NEEDED = ['sh', 'setsid', 'env', 'mkfifo', 'stdbuf', 'head', 'wc', 'rm', 'cat'];
/** What a model expects of a workspace; each is missed, none is needed by us. */
const WANTED = ['bash', 'git'];
/** Where a lock and an fsync may not mean what they should: statfs types of NFS, SMB, CIFS, FUSE, 9P. */
const REMOTE_TYPES = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
]);
const FREE_BYTES_WANTED = 1024 ** 3;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > NODE_MAJOR || (major === NODE_MAJOR && minor >= NODE_MINOR);
  if (isNew) return { about: 'node', verdict: 'ok', detail: version };
  const nextStep = `Install Node ${NODE_MAJOR}.${NODE_MINOR} or newer; in a checkout "npx latchkey" brings its own.`;
  return { about: 'node', verdict: 'missing', detail: version, nextStep };
}

export function checkTools(path: string): Finding[] {
  const lacks = (tool: string): boolean => !path.split(delimiter).some((folder) => isExecutable(join(folder, tool)));
  const needed = NEEDED.filter(lacks);
  const wanted = WANTED.filter(lacks);
  const tools: Finding =
    needed.length === 0
      ? { about: 'tools', verdict: 'ok', detail: NEEDED.join(', ') }
      : {
          about: 'tools',
          verdict: 'missing',
          detail: `not on PATH: ${needed.join(', ')}`,
          nextStep: 'Install coreutils and util-linux; without them no command can be run.',
        };
  const extra: Finding[] = wanted.map((tool) => ({
    about: tool,
    verdict: 'note',
    detail: tool === 'bash' ? 'not on PATH: commands run in sh' : 'not on PATH',
    nextStep: `Install ${tool}, if commands are to use it.`,
  }));
  return [tools, ...extra];
}

export function checkStateFolder(folder: StageFolder): Finding {
  const about = 'state folder';
  try {
    accessSync(folder.root, constants.W_OK);
    const { type, bavail, bsize } = statfsSync(folder.root);
    const remote = REMOTE_TYPES.get(type);
    if (remote !== undefined) {
      const detail = `${folder.root} is on ${remote}, where locks and syncs can't be relied on`;
      return { about, verdict: 'missing', detail, nextStep: 'Set XDG_STATE_HOME to a folder on a local disk.' };
    }
    const freeBytes = bavail * bsize;
    const detail = `${folder.root}, ${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`;
    if (freeBytes >= FREE_BYTES_WANTED) return { about, verdict: 'ok', detail };
    return { about, verdict: 'note', detail, nextStep: 'Free some space: output and journal are kept there.' };
  } catch (error) {
    const detail = (error as Error).message;
    return { about, verdict: 'missing', detail, nextStep: 'Set XDG_STATE_HOME to a folder that can be written.' };
  }
}

export function checkProc(): Finding {
  if (existsSync('/proc/self/stat')) return { about: 'system', verdict: 'ok', detail: `GNU/Linux, ${process.arch}` };
  const nextStep = 'Run the agent and its worker on GNU/Linux; the rest may run anywhere.';
  return { about: 'system', verdict: 'missing', detail: `no /proc on ${process.platform}`, nextStep };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return existsSync(dirname(file));
  } catch {
    return false;
  }
}
