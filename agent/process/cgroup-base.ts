/** The folder below which the commands' cgroups are made, where this machine lets us; found and tried once at start. */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import type { CgroupRecord } from './cgroup.ts';
import { removeFolder } from './cgroup.ts';
import { findOwnCgroupFolders } from './cgroup-mounts.ts';

/** As `mkdtemp` ends the names it makes. */
const MADE_HERE = /^(\d+\.\d+|probe)-[0-9A-Za-z]{6}$/;
const PROBE_TIMEOUT_MS = 5000;
/** Enters the cgroup and kills everything in it, that is, itself: proves moving and killing in one go. */
const PROBE = 'echo 0 > "$1/cgroup.procs" && echo 1 > "$1/cgroup.kill"; exit 1';

export class CgroupBase {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Undefined where cgroup v2 can't be used: not there, read-only, too old (`cgroup.kill` is of Linux 5.14). */
  static find(agentId: string): CgroupBase | undefined {
    for (const own of findOwnCgroupFolders()) {
      const base = new CgroupBase(baseFolder(own, agentId));
      if (base.#isUsable()) return base;
    }
    return undefined;
  }

  /** Undefined when it can't be made (a limit, a mount that went away): the command then runs without. */
  create(name: string): CgroupRecord | undefined {
    try {
      // Whoever tidies this machine's cgroups may have removed ours while it was empty.
      mkdirSync(this.path, { recursive: true, mode: 0o700 });
      const path = mkdtempSync(join(this.path, `${name}-`));
      return { path, inode: String(statSync(path, { bigint: true }).ino) };
    } catch {
      return undefined;
    }
  }

  /** Removes what nobody is in and no row knows: made just before a death. Only empty folders can be removed at all. */
  removeUnrecorded(recorded: ReadonlySet<string>): void {
    for (const name of readdirSync(this.path)) {
      const path = join(this.path, name);
      if (MADE_HERE.test(name) && !recorded.has(path)) removeFolder(path);
    }
  }

  /** The folder itself, if no command is left in it. */
  remove(): void {
    removeFolder(this.path);
  }

  #isUsable(): boolean {
    try {
      mkdirSync(this.path, { recursive: true, mode: 0o700 });
    } catch {
      // Read-only, or not ours to write, as in most containers and for most users.
      return false;
    }
    this.#countMemory();
    const probe = this.create('probe');
    if (probe === undefined) return false;
    try {
      accessSync(join(probe.path, 'cgroup.kill'), constants.W_OK);
      const options = { timeout: PROBE_TIMEOUT_MS, stdio: 'ignore', env: {} } as const;
      return spawnSync('/bin/sh', ['-c', PROBE, 'sh', probe.path], options).signal === 'SIGKILL';
    } catch {
      // No `cgroup.kill`: an older kernel.
      return false;
    } finally {
      removeFolder(probe.path);
    }
  }

  /** Lets the kernel count deaths for lack of memory per command, where the memory controller has come down to us. */
  #countMemory(): void {
    try {
      const controllers = readFileSync(join(this.path, 'cgroup.controllers'), 'utf8').split(/\s/);
      if (controllers.includes('memory')) writeFileSync(join(this.path, 'cgroup.subtree_control'), '+memory');
    } catch {
      // Without it such a death reads as any other kill -9.
    }
  }
}

/**
 * Below our own cgroup. An agent that was restarted from inside one of its commands leaves that command's cgroup first:
 * whoever cancels the command would otherwise kill the keepers that the agent starts from now on.
 */
function baseFolder(own: string, agentId: string): string {
  const name = `latchkey-${agentId}`;
  const parts = own.split(sep);
  const inside = parts.indexOf(name);
  if (inside === -1) return join(own, name);
  const above = parts.slice(0, inside).join(sep);
  try {
    writeFileSync(join(above, 'cgroup.procs'), String(process.pid));
  } catch {
    // Then we stay in it, and `holdsOurselves` keeps us from killing it.
  }
  return join(above, name);
}
