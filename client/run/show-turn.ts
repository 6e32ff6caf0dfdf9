/** Shows a turn until it ends or the watcher leaves. */
import type { Client } from '@temporalio/client';
import type { TurnEnd } from '../../contract/turn.ts';
import type { Store } from '../open-store.ts';
import { keepDrawing, openPrinter } from '../watch/open-printer.ts';
import { Screen } from '../watch/screen.ts';
import type { PrintedOn } from '../watch/screen.ts';
import { TurnJson } from '../watch/turn-json.ts';
import { watchTurn } from '../watch/watch-turn.ts';
import type { TurnEnding } from '../watch/watch-turn.ts';
import { formatDuration } from '../watch/format-time.ts';
import type { ChatTurn } from './latest-turn.ts';

const MARK: Readonly<Record<TurnEnd, string>> = { completed: 'done', failed: 'failed', interrupted: 'interrupted' };

export interface ShowOptions extends ChatTurn {
  readonly store: Store;
  readonly client?: Client;
  readonly showsUser: boolean;
  readonly isJson: boolean;
  readonly signal: AbortSignal;
}

/** The exit code: 0 for a completed turn, 1 for any other end. Throws the signal's reason when the watcher leaves. */
export async function showTurn(options: ShowOptions): Promise<number> {
  return options.isJson ? showJson(options) : showText(options);
}

async function showJson({ chatId, turn, store, client, signal }: ShowOptions): Promise<number> {
  const audience = new TurnJson(process.stdout, chatId);
  const ending = await watchTurn({ store, chatId, turn, audience, signal, ...(client !== undefined && { client }) });
  const exitCode = exitCodeOf(ending);
  audience.write({ type: 'end', chatId, turn, ...ending, exitCode });
  return exitCode;
}

async function showText({ chatId, turn, store, client, signal, showsUser }: ShowOptions): Promise<number> {
  const screen = new Screen(process.stdout, process.stderr);
  const printer = openPrinter({ chatId, store, screen, showsUser });
  const drawing = keepDrawing(screen, () => printer.draw());
  try {
    const shown = { store, chatId, turn, audience: printer, signal };
    const ending = await watchTurn({ ...shown, ...(client !== undefined && { client }) });
    printer.end();
    screen.line(await summarizeTurn(store, { chatId, turn }, ending, { screen, suffix: ` · chat ${chatId}` }));
    return exitCodeOf(ending);
  } finally {
    drawing[Symbol.dispose]();
    printer.end();
  }
}

/** How it ended, how many calls it had, how long it took; on a second line why it failed. */
export async function summarizeTurn(
  store: Store,
  at: ChatTurn,
  ending: TurnEnding,
  { screen, suffix = '' }: { readonly screen: PrintedOn; readonly suffix?: string },
): Promise<string> {
  const [row, calls] = await Promise.all([store.findTurn(at), store.listCalls(at)]);
  const isTimed = row?.startedAt !== undefined && row.endedAt !== undefined;
  const time = isTimed ? ` · ${formatDuration(Date.parse(row.endedAt ?? '') - Date.parse(row.startedAt ?? ''))}` : '';
  const count = `${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`;
  const line = `${MARK[ending.state]} · ${count}${time}${suffix}`;
  if (ending.state === 'completed') return screen.style('dim', line);
  const reason = ending.error === undefined ? '' : `\n${ending.error.code}: ${ending.error.message}`;
  return screen.style('red', line) + reason;
}

export function exitCodeOf({ state }: TurnEnding): number {
  return state === 'completed' ? 0 : 1;
}
