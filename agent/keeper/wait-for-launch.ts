/** Waits until an attempt is decided one way or the other: `started` or `failed` is complete, or the keeper ended. */
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import type { StartedRecord } from './keeper-files.ts';
import { readFailed, readStarted } from './keeper-files.ts';

/** Behind the watcher, for file systems without inotify and users out of watches. */
const SWEEP_MS = 50;

/** Resolves to the record, or to undefined when the launch failed, `ended` came first, or the agent lets go. */
export function waitForLaunch(
  folder: string,
  ended: Promise<unknown>,
  signal: AbortSignal,
): Promise<StartedRecord | undefined> {
  return new Promise((resolve) => {
    let watcher: FSWatcher | undefined;
    const finish = (started: StartedRecord | undefined): void => {
      clearInterval(sweep);
      watcher?.close();
      signal.removeEventListener('abort', letGo);
      resolve(started);
    };
    const letGo = (): void => finish(undefined);
    const look = (): void => {
      const started = readStarted(folder);
      if (started !== undefined || readFailed(folder) !== undefined) finish(started);
    };
    const sweep = setInterval(look, SWEEP_MS);
    try {
      watcher = watch(folder, look);
      watcher.on('error', () => watcher?.close());
    } catch {
      // Out of inotify watches: the sweep alone is late by at most its period.
    }
    signal.addEventListener('abort', letGo, { once: true });
    void ended.then(() => finish(readStarted(folder)));
    look();
  });
}
