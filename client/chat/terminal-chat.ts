/**
 * A conversation on a terminal. Owns the screen and the keys; everything else is asked of the chat, so that a second
 * terminal of the same chat sees and does the same.
 */
import { describeFailure } from '../describe-failure.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { completeCommand, interrupt, parseCommand, toMessage } from './chat-commands.ts';
import { ChatMirror } from './chat-mirror.ts';
import { ChatPrinter } from './chat-printer.ts';
import { ChatScreen } from './chat-screen.ts';
import { ChatTeller } from './chat-teller.ts';
import type { TellFrom } from './chat-teller.ts';
import type { CommandContext } from './command-context.ts';
import { LineInput } from './line-input.ts';
import { leaveSession } from './open-session.ts';
import type { ChatSession } from './open-session.ts';

/**
 * A second Ctrl-C within this time leaves, and nothing was interrupted. Longer than two presses take, shorter than
 * anybody waits for a stop.
 */
const SECOND_PRESS_MS = 600;
const LEFT = 130;

export interface TerminalOptions {
  readonly session: ChatSession;
  readonly folder: StageFolder;
  /** Of what was said before. */
  readonly messagesMax: number;
}

export class TerminalChat implements CommandContext {
  readonly session: ChatSession;
  readonly mirror = new ChatMirror();
  readonly #options: TerminalOptions;
  readonly #screen = new ChatScreen(process.stdout);
  readonly #following = new AbortController();
  readonly #left = Promise.withResolvers<number>();
  readonly #input: LineInput;
  #isFollowing = false;
  /** What is asked for is done in the order in which it was typed. */
  #asked: Promise<void> = Promise.resolve();
  #take: ((text: string) => Promise<void>) | undefined;
  #firstPress: NodeJS.Timeout | undefined;

  static async run(options: TerminalOptions): Promise<number> {
    const chat = new TerminalChat(options, await readHistory(options.session));
    return chat.#run();
  }

  private constructor(options: TerminalOptions, history: readonly string[]) {
    this.session = options.session;
    this.#options = options;
    this.#input = new LineInput({
      input: process.stdin,
      output: process.stdout,
      history,
      complete: completeCommand,
      onChange: (typed) => {
        this.#screen.typed(typed);
        this.#showHint();
      },
      onMessage: (text) => this.#enter(text),
      onInterrupt: () => this.#press(),
      onClose: () => this.#left.resolve(0),
    });
  }

  readonly say = (line: string): void => this.#screen.line(this.#screen.style('dim', line));

  readonly offer = (text: string, take: (text: string) => Promise<void>): void => {
    this.#take = take;
    this.#input.fill(text);
  };

  readonly leave = (): void => this.#left.resolve(0);

  async #run(): Promise<number> {
    const { chatId, binding, ownAgentId, isThere } = this.session;
    const onSignal = (): void => this.#left.resolve(LEFT);
    const onInterrupt = (): void => this.#press();
    process.on('SIGTERM', onSignal).on('SIGHUP', onSignal).on('SIGINT', onInterrupt);
    this.say(`${isThere ? '' : 'new '}chat ${chatId} · ${binding.model}`);
    this.say(`/help · come back: latchkey chat ${chatId}`);
    if (binding.agentId !== ownAgentId) {
      this.say(`its commands run at agent ${binding.agentId}, not in this folder: /bind binds it here`);
    }
    if (isThere) this.#follow({ messagesMax: this.#options.messagesMax });
    try {
      return await this.#left.promise;
    } finally {
      clearTimeout(this.#firstPress);
      this.#following.abort();
      this.#input.close();
      this.#screen.close();
      if (this.mirror.isBusy) process.stdout.write(`left; the turn goes on. Come back: latchkey chat ${chatId}\n`);
      await leaveSession(this.session, this.mirror.isBusy);
      process.off('SIGTERM', onSignal).off('SIGHUP', onSignal).off('SIGINT', onInterrupt);
    }
  }

  #enter(text: string): void {
    const take = this.#take;
    this.#take = undefined;
    if (text.trim() === '') return;
    this.#ask(async () => {
      if (take !== undefined) return take(text);
      const command = parseCommand(text);
      if (command !== undefined) {
        this.say(text);
        return command.command.run(this, command.words.trimEnd());
      }
      await this.#send(toMessage(text));
    });
  }

  async #send(text: string): Promise<void> {
    const { turn, waiting } = await this.session.send(text).catch((error: unknown) => {
      this.#input.fill(text);
      throw error;
    });
    if (turn === undefined && waiting > 0 && this.mirror.state !== 'idle') {
      this.say(`queued, ${waiting === 1 ? 'it is answered next' : `${waiting} wait`} (/queue)`);
    }
    // A new chat is followed from its first event on.
    this.#follow({ after: 0 });
  }

  #ask(what: () => Promise<void> | void): void {
    this.#asked = this.#asked.then(what).catch((error: unknown) => {
      for (const line of describeFailure(error).split('\n')) this.#screen.line(this.#screen.style('red', line));
    });
  }

  /** Ctrl-C. */
  #press(): void {
    if (this.#firstPress !== undefined) return this.#left.resolve(LEFT);
    // It is being stopped already: there is nothing to ask for but to leave.
    if (this.mirror.state === 'interrupting') return this.#left.resolve(LEFT);
    const { turn } = this.mirror;
    const isRunning = this.mirror.state === 'running';
    if (!isRunning) {
      this.#take = undefined;
      this.#input.clear();
    }
    this.#firstPress = setTimeout(
      () => {
        this.#firstPress = undefined;
        this.#showHint();
        if (isRunning && turn !== undefined) this.#interrupt();
      },
      isRunning ? SECOND_PRESS_MS : 3 * SECOND_PRESS_MS,
    );
    this.#showHint();
  }

  /** Not in the order of what was typed: a message that can't be sent must not hold it up. */
  #interrupt(): void {
    interrupt(this).catch((error: unknown) => this.#screen.line(this.#screen.style('red', describeFailure(error))));
  }

  #showHint(): void {
    const { state, waiting } = this.mirror;
    const queue = waiting.length > 0 && state !== 'idle' ? ` · ${waiting.length} wait (/queue)` : '';
    if (this.#firstPress !== undefined) {
      const then =
        state === 'running' ? 'interrupting the turn; Ctrl-C again leaves, and it goes on' : 'Ctrl-C again leaves';
      this.#screen.hint(then);
    } else if (this.#take !== undefined) this.#screen.hint('editing: Enter replaces the message, Ctrl-C leaves it');
    else if (state === 'interrupting') this.#screen.hint(`being stopped · Ctrl-C leaves${queue}`);
    else if (state === 'running') this.#screen.hint(`turn ${this.mirror.turn} · Ctrl-C interrupts${queue}`);
    else this.#screen.hint(undefined);
  }

  #follow(from: TellFrom): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    void this.#tell(from).catch((error: unknown) => {
      this.#screen.line(this.#screen.style('red', `the chat can't be followed any more: ${describeFailure(error)}`));
      this.#isFollowing = false;
    });
  }

  async #tell(from: TellFrom): Promise<void> {
    const { session, mirror } = this;
    const { folder } = this.#options;
    const { signal } = this.#following;
    const { chatId, stage } = session;
    using printer = new ChatPrinter({ chatId, store: stage.store, screen: this.#screen, showsUser: true });
    const onBreak = (error: unknown): void => printer.notice(`the store does not answer: ${describeFailure(error)}`);
    const teller = new ChatTeller({ session, folder, mirror, audience: printer, onBreak, signal });
    for await (const frame of teller.tell(from)) {
      if (frame.type === 'live' && frame.hasEarlier) this.say('(earlier messages: latchkey chat --last N)');
      this.#showHint();
    }
  }
}

/** What the user said before can be fetched by the arrow keys. */
async function readHistory({ chatId, isThere, stage }: ChatSession): Promise<string[]> {
  if (!isThere) return [];
  const messages = await stage.store.loadConversation(chatId);
  const lines = messages.flatMap(({ role, text }) => (role === 'user' && !text.includes('\n') ? [text] : []));
  return lines.toReversed().slice(0, HISTORY_MESSAGES);
}

const HISTORY_MESSAGES = 100;
