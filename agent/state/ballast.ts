/**
 * Space kept for the end of things: a command that fills the disk must not keep its own end out of the journal (D06).
 * When a commit that ends something finds the disk full, the ballast goes, and comes back when there is space.
 */
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Some hundred commits. */
const BALLAST_BYTES = 1024 * 1024;
/** Laid only where it is a small part of what is free. */
const FREE_FACTOR = 4;

export class Ballast {
  readonly #path: string;

  constructor(stateFolder: string) {
    this.#path = join(stateFolder, 'ballast');
  }

  /** Lays it where there is none and space enough. */
  lay(): void {
    if (existsSync(this.#path)) return;
    const { bavail, bsize } = statfsSync(join(this.#path, '..'));
    if (bavail * bsize < BALLAST_BYTES * FREE_FACTOR) return;
    writeFileSync(this.#path, Buffer.alloc(BALLAST_BYTES, 'ballast '), { mode: 0o600 });
  }

  /** True when there was some to drop. */
  drop(): boolean {
    if (!existsSync(this.#path)) return false;
    rmSync(this.#path);
    return true;
  }
}
