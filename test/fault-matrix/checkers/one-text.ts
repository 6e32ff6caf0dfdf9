import type { Evidence } from '../evidence.ts';

/** I09, H04: of attempts that overlap one shows its text; nobody ever saw a mixture. */
export function oneText({ shownWrong }: Evidence): string[] {
  return shownWrong.slice(0, 1).map((shown) => `a watcher saw what the model never wrote, in ${shown}`);
}
