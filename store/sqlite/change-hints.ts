/** On SQLite a commit of any process shows in `PRAGMA data_version` of a connection that doesn't write itself. */
import { DatabaseSync } from 'node:sqlite';
import type { HintSource } from '../chat-changes.ts';

/** Some 10 µs each: half a thousandth of a core, and a watcher is told before a person sees a delay. */
const LOOK_EVERY_MS = 20;

export function sqliteChangeHints(path: string): HintSource {
  return (onHint) => {
    const database = new DatabaseSync(path, { readOnly: true });
    const statement = database.prepare('PRAGMA data_version');
    let seen: unknown;
    const timer = setInterval(() => {
      try {
        const version = statement.get()?.['data_version'];
        if (version !== seen) onHint();
        seen = version;
      } catch {
        // Such as a lock that is held for a moment: a hint that is lost costs a moment, too.
      }
    }, LOOK_EVERY_MS);
    return {
      [Symbol.dispose]: () => {
        clearInterval(timer);
        database.close();
      },
    };
  };
}
