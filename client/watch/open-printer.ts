import type { ChatId } from '../../contract/ids.ts';
import type { Store } from '../open-store.ts';
import type { PrintedOn } from './screen.ts';
import { TurnPrinter } from './turn-printer.ts';

const DRAW_MS = 200;

export interface PrinterOptions {
  readonly chatId: ChatId;
  readonly store: Store;
  readonly screen: PrintedOn;
  readonly showsUser: boolean;
}

/** For a turn of this chat, of whose calls the store knows how they ended. */
export function openPrinter({ chatId, store, screen, showsUser }: PrinterOptions): TurnPrinter {
  return new TurnPrinter({
    screen,
    showsUser,
    findExit: async (key) => (await store.findCall({ chatId, key }))?.outcome?.exit,
  });
}

/** Keeps what is live on the screen up to date, where there is one, until it is disposed of. */
export function keepDrawing(screen: PrintedOn, draw: () => void): Disposable {
  const timer = screen.isLive ? setInterval(draw, DRAW_MS) : undefined;
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
