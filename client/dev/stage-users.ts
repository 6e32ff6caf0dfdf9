/**
 * Who needs the stage: one file a user in `users/`. A `run` or a watcher counts while its process lives; when it has
 * gone, its turn counts for as long as that runs. So a Ctrl-C leaves the turn everything that it needs, and a kill -9
 * holds nothing for ever.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isRunning, ourIdentity, processIdentitySchema } from './process-identity.ts';
import type { StageFolder } from './stage-folder.ts';
import { readJson, writeJson } from './write-json.ts';

const KEPT = 'kept.json';

const userSchema = z.object({
  process: processIdentitySchema,
  workflowId: z.string().optional(),
  /** Until `latchkey dev stop`. */
  isKept: z.boolean().optional(),
});

export interface StageUse {
  /** From now on the turn counts too, also when this process has gone. */
  follow(workflowId: string): void;
  keep(): void;
  /** The end of this use; what it follows doesn't count any more. */
  end(): void;
}

export function beginUse(folder: StageFolder): StageUse {
  const file = join(folder.users, `${randomUUID()}.json`);
  const process = ourIdentity();
  writeJson(file, { process });
  return {
    follow: (workflowId) => writeJson(file, { process, workflowId }),
    keep: () => writeJson(join(folder.users, KEPT), { process, isKept: true }),
    end: () => rmSync(file, { force: true }),
  };
}

export function isKept(folder: StageFolder): boolean {
  return existsSync(join(folder.users, KEPT));
}

export function forgetKept(folder: StageFolder): void {
  rmSync(join(folder.users, KEPT), { force: true });
}

/** True while anybody needs the stage; forgets those who don't any more. */
export async function isUsed(folder: StageFolder, isOpen: (workflowId: string) => Promise<boolean>): Promise<boolean> {
  const files = readdirSync(folder.users).filter((name) => name.endsWith('.json'));
  for (const name of files) {
    const file = join(folder.users, name);
    const user = readJson(file, userSchema);
    if (user === undefined) continue;
    if (user.isKept === true || isRunning(user.process)) return true;
    if (user.workflowId !== undefined && (await isOpen(user.workflowId))) return true;
    rmSync(file, { force: true });
  }
  return false;
}
