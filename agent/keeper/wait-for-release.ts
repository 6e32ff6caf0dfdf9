/** Waits until nobody holds an attempt's `alive` FIFO: the keeper has ended, whoever's child it was. */
import { constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { Socket } from 'node:net';
import { isAliveHeld } from './keeper-files.ts';

/** The truth behind the end-of-file event, for file systems and event loops that miss one. */
const SWEEP_MS = 1000;

/**
 * Resolves at the FIFO's end-of-file (about 1.5 ms after the keeper's end), at the next sweep that finds it free, or
 * when `recheck` says that waiting is pointless (identity says that everybody is gone).
 */
export function waitForRelease(folder: string, recheck: () => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let socket: Socket | undefined;
    const finish = (): void => {
      clearInterval(sweep);
      signal.removeEventListener('abort', finish);
      socket?.destroy();
      resolve();
    };
    const sweep = setInterval(() => {
      if (!isAliveHeld(folder) || recheck()) finish();
    }, SWEEP_MS);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) return finish();
    try {
      const fd = openSync(join(folder, 'alive'), constants.O_RDONLY | constants.O_NONBLOCK);
      socket = new Socket({ fd, readable: true, writable: false });
      // A failing socket proves nothing: only a look at the FIFO does, and the sweep goes on looking.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (!isAliveHeld(folder)) finish();
      });
      socket.resume();
    } catch {
      // No FIFO to listen on (deleted), or out of descriptors: the sweep finds it free.
    }
    // Armed first, then looked: a release in between is seen by one of the two.
    if (!isAliveHeld(folder)) finish();
  });
}
