/** Which named points a worker dies at when it passes them next (activities/fault-points.ts): a file each. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultPoint } from '../../activities/fault-points.ts';

export class Arms {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  arm(points: readonly FaultPoint[]): void {
    for (const point of points) writeFileSync(join(this.folder, point), '');
  }

  /** Points that nobody has died at yet. */
  waiting(): FaultPoint[] {
    return readdirSync(this.folder).filter((name) => !name.includes('.')) as FaultPoint[];
  }

  disarm(): void {
    for (const name of readdirSync(this.folder)) rmSync(join(this.folder, name), { force: true });
  }
}
