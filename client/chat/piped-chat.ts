/** A conversation without a terminal: each line of standard input is a message, answered before the next is read. */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { ChatFrame } from '../open-store.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import type { Leaving } from '../run/leaving.ts';
import { exitCodeOf } from '../run/show-turn.ts';
import { Screen } from '../watch/screen.ts';
import { TurnJson } from '../watch/turn-json.ts';
import type { TurnEnding } from '../watch/watch-turn.ts';
import { ChatMirror } from './chat-mirror.ts';
import { ChatPrinter } from './chat-printer.ts';
import { ChatTeller } from './chat-teller.ts';
import type { ChatAudience, TellFrom } from './chat-teller.ts';
import { leaveSession } from './open-session.ts';
import type { ChatSession } from './open-session.ts';

export interface PipedOptions {
  readonly session: ChatSession;
  readonly folder: StageFolder;
  readonly isJson: boolean;
  /** Of what was said before. */
  readonly messagesMax: number;
  readonly leaving: Leaving;
}

/** The exit code: 0 when every message's turn is completed, 1 when one is not. */
export async function runPiped(options: PipedOptions): Promise<number> {
  const { session, isJson, leaving } = options;
  const { chatId, binding, stage } = session;
  const mirror = new ChatMirror();
  const isLeft = (): boolean => leaving.signal.aborted;
  if (isJson) {
    const { temporalAddress, temporalUiUrl } = stage.places;
    writeLine({ type: 'begin', chatId, model: binding.model, temporalAddress, temporalUiUrl });
  } else process.stderr.write(`chat ${chatId} · come back: latchkey chat ${chatId}\n`);
  try {
    return await answerLines(options, mirror);
  } catch (error) {
    if (!isLeft()) throw error;
    if (isJson) writeLine({ type: 'left', chatId });
    else process.stderr.write(`left; ${mirror.isBusy ? 'the turn goes on. ' : ''}Come back: latchkey chat ${chatId}\n`);
    return leaving.exitCode;
  } finally {
    await leaveSession(session, mirror.isBusy);
  }
}

async function answerLines(options: PipedOptions, mirror: ChatMirror): Promise<number> {
  const { session, leaving } = options;
  const told = new Told(options, mirror);
  let exitCode = 0;
  try {
    if (session.isThere) await told.begin({ messagesMax: options.messagesMax });
    for await (const text of createInterface({ input: process.stdin, signal: leaving.signal })) {
      leaving.signal.throwIfAborted();
      if (text.trim() === '') continue;
      const clientMessageId = randomUUID();
      const answered = told.answered(clientMessageId);
      await session.send(text, clientMessageId);
      await told.begin({ after: 0 });
      const ending = await answered;
      exitCode = Math.max(exitCode, exitCodeOf(ending));
    }
    leaving.signal.throwIfAborted();
    return exitCode;
  } finally {
    await told.end();
  }
}

/** Follows the chat, tells the audience, and says when a message's turn has ended. */
class Told {
  readonly #options: PipedOptions;
  readonly #mirror: ChatMirror;
  readonly #ending = new AbortController();
  #awaited:
    { readonly clientMessageId: string; readonly ended: PromiseWithResolvers<TurnEnding>; turn?: number } | undefined;
  #following: Promise<void> | undefined;

  constructor(options: PipedOptions, mirror: ChatMirror) {
    this.#options = options;
    this.#mirror = mirror;
  }

  answered(clientMessageId: string): Promise<TurnEnding> {
    const ended = Promise.withResolvers<TurnEnding>();
    this.#awaited = { clientMessageId, ended };
    // Somebody may leave before it is awaited.
    ended.promise.catch(() => undefined);
    return ended.promise;
  }

  /** Resolves when what was there before has been told. */
  begin(from: TellFrom): Promise<void> {
    if (this.#following !== undefined) return Promise.resolve();
    const live = Promise.withResolvers<void>();
    if ('after' in from) live.resolve();
    this.#following = this.#follow(from, () => live.resolve()).catch((error: unknown) => {
      this.#awaited?.ended.reject(error);
      live.reject(error);
    });
    return live.promise;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#following;
  }

  async #follow(from: TellFrom, onLive: () => void): Promise<void> {
    const { session, leaving, folder } = this.#options;
    const signal = AbortSignal.any([leaving.signal, this.#ending.signal]);
    using audience = openAudience(this.#options);
    const onBreak = (): void => audience.notice('the store does not answer');
    const teller = new ChatTeller({ session, folder, mirror: this.#mirror, audience, onBreak, signal });
    for await (const frame of teller.tell(from)) {
      if (frame.type === 'live') onLive();
      this.#note(frame);
    }
    this.#awaited?.ended.reject(new Error('left'));
  }

  #note(frame: ChatFrame): void {
    const awaited = this.#awaited;
    if (awaited === undefined) return;
    if (frame.type === 'message' && frame.role === 'user' && frame.clientMessageId === awaited.clientMessageId) {
      awaited.turn = frame.turn;
    }
    if (frame.type !== 'turn' || frame.state === 'active' || frame.turn !== awaited.turn) return;
    const { state, error } = frame;
    awaited.ended.resolve({ state, ...(error !== undefined && { error }) });
  }
}

function openAudience({ session, isJson, messagesMax }: PipedOptions): ChatAudience & Disposable {
  const { chatId, stage } = session;
  if (!isJson) {
    const screen = new Screen(process.stdout, process.stderr);
    return new ChatPrinter({ chatId, store: stage.store, screen, showsUser: messagesMax > 0 });
  }
  const json = new TurnJson(process.stdout, chatId);
  return {
    event: (event) => json.event(event),
    pending: (activities) => json.pending(activities),
    notice: (text) => json.notice(text),
    turnEnded: (turn, ending) => json.write({ type: 'end', chatId, turn, ...ending, exitCode: exitCodeOf(ending) }),
    [Symbol.dispose]: () => undefined,
  };
}

function writeLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
