/** A turn for people: the model's text as it comes, each call with its command, live last line, exit and time. */
import { isResolved } from '../../contract/calls.ts';
import type { Exit } from '../../contract/calls.ts';
import type { ExecutionKey } from '../../contract/ids.ts';
import { activityIdOf } from '../../contract/execution-key.ts';
import type { StreamEvent } from '../open-store.ts';
import { formatDuration, timeOfDay } from './format-time.ts';
import type { PendingActivity } from './pending-activities.ts';
import { plainLine, plainText } from './plain-text.ts';
import type { PrintedOn } from './screen.ts';
import type { TurnAudience } from './watch-turn.ts';

type Call = Extract<StreamEvent, { type: 'call' }>['call'];

interface OpenCall {
  readonly call: Call;
  readonly shownAtMs: number;
  pending?: PendingActivity;
}

/** How long the model may be silent before the live block says that it is waited for. */
const SILENCE_MS = 1000;
/** Of a command that failed, so many of its last lines are shown. */
const FAILED_LINES_SHOWN = 5;
const SUMMARY_CHARACTERS = 60;

export interface TurnPrinterOptions {
  readonly screen: PrintedOn;
  /** The message is shown too: whoever watches has not just typed it. */
  readonly showsUser: boolean;
  readonly findExit: (key: ExecutionKey) => Promise<Exit | undefined>;
}

export class TurnPrinter implements TurnAudience {
  readonly #options: TurnPrinterOptions;
  readonly #screen: PrintedOn;
  readonly #open = new Map<string, OpenCall>();
  readonly #told = new Map<string, string>();
  #written = '';
  #quietSinceMs = performance.now();
  #model: PendingActivity | undefined;
  /** The last attempt of the step's model call that is known to have failed. */
  #retriedAttempt = 0;

  constructor(options: TurnPrinterOptions) {
    this.#options = options;
    this.#screen = options.screen;
  }

  async event(event: StreamEvent): Promise<void> {
    this.#quietSinceMs = performance.now();
    switch (event.type) {
      case 'part':
        this.#written += event.text;
        this.#screen.text(event.text);
        return;
      case 'withdrawn':
        if (this.#written !== '') this.notice('the answer broke off and is void; the model is asked again');
        this.#written = '';
        return;
      case 'message':
        if (event.role === 'user') return this.#showUser(event.text);
        if (event.role === 'summary') return;
        this.#endMessage(event.text);
        this.#retriedAttempt = 0;
        for (const call of event.calls) await this.#showCall(call);
        return;
      case 'call':
        return this.#showCall(event.call);
      case 'retry':
        this.#retriedAttempt = event.attempt;
        return this.notice(`${reasonOf(event)}, trying again in ${formatDuration(event.retryInMs)}`);
      case 'compaction':
        return this.notice(`the conversation is long; its ${event.messageCount} oldest messages are summarised`);
      case 'note':
        for (const line of event.text.split('\n')) this.notice(plainLine(line));
        return;
      case 'chat':
      case 'hidden':
      case 'queue':
      case 'status':
      case 'turn':
      case 'queued':
      default:
    }
  }

  pending(activities: readonly PendingActivity[]): void {
    this.#model = activities.find(({ type }) => type === 'generateStep' || type === 'compactConversation');
    // Of a retry that is stored everything is said; one after the death of a worker is known from here only.
    const isTold = this.#model === undefined || this.#model.attempt <= this.#retriedAttempt + 1;
    if (this.#model !== undefined && !isTold) this.#tell('model', this.#modelLine(this.#model));
    for (const open of this.#open.values()) {
      const pending = activities.find(({ activityId }) => activityId === activityIdOf(open.call.key));
      if (pending === undefined) continue;
      open.pending = pending;
      const trouble = troubleOf(pending);
      if (trouble !== '') this.#tell(open.call.key, `${shorten(open.call.summary)}: ${trouble}`);
    }
    this.draw();
  }

  notice(text: string): void {
    this.#screen.line(this.#screen.style('yellow', `! ${text}`));
  }

  draw(): void {
    const lines = [...this.#open.values()].map((open) => this.#liveLine(open));
    const silentMs = performance.now() - this.#quietSinceMs;
    if (lines.length === 0 && this.#model !== undefined && silentMs > SILENCE_MS) {
      lines.push(this.#screen.style('dim', `… the model, ${formatDuration(silentMs)}`));
    }
    this.#screen.block(lines);
  }

  end(): void {
    this.#screen.endText();
    this.#screen.block([]);
  }

  #showUser(text: string): void {
    if (this.#options.showsUser) this.#screen.line(this.#screen.style('bold', `> ${plainText(text)}`));
  }

  /** The stored text wins over what was streamed (S1). */
  #endMessage(text: string): void {
    if (text.startsWith(this.#written)) this.#screen.text(text.slice(this.#written.length));
    else {
      this.notice('the answer, as it was stored:');
      this.#screen.text(text);
    }
    this.#screen.endText();
    this.#written = '';
  }

  async #showCall(call: Call): Promise<void> {
    const open = this.#open.get(call.key);
    if (!isResolved(call.status)) {
      if (open === undefined && !this.#screen.isLive)
        this.#screen.line(`… ${shorten(call.summary)}  (${plainLine(call.key)})`);
      this.#open.set(call.key, { ...open, call, shownAtMs: open?.shownAtMs ?? Date.now() });
      return;
    }
    this.#open.delete(call.key);
    const exit = await this.#options.findExit(call.key);
    const isDone = call.exitCode === 0 || call.evidence?.code === 'signalled';
    const isGood = call.status === 'detached' || (call.status === 'exited' && isDone);
    const mark = isGood ? this.#screen.style('green', '✓') : this.#screen.style('red', '✗');
    const time = exit === undefined ? '' : ` · ${formatDuration(exit.durationMs)}`;
    this.#screen.line(
      `${mark} ${shorten(call.summary)}${this.#screen.style('dim', ` · ${endOf(call)}${time} · ${plainLine(call.key)}`)}`,
    );
    if (!isGood) for (const line of lastLines(call)) this.#screen.line(this.#screen.style('dim', `    ${line}`));
  }

  #liveLine({ call, pending, shownAtMs }: OpenCall): string {
    const started = pending?.heartbeat?.started;
    const time = formatDuration(Date.now() - (started === undefined ? shownAtMs : Date.parse(started)));
    const word = pending === undefined ? '' : troubleOf(pending) || plainLine(pending.heartbeat?.lastLine ?? '');
    return `… ${shorten(call.summary)} ${this.#screen.style('dim', `· ${time}${word === '' ? '' : ` · ${word}`}`)}`;
  }

  #modelLine({ attempt, lastFailure }: PendingActivity): string {
    return `the model, attempt ${attempt}${lastFailure === undefined ? '' : `: ${plainLine(lastFailure)}`}`;
  }

  /** The same thing is said once. */
  #tell(about: string, text: string): void {
    if (this.#told.get(about) === text) return;
    this.#told.set(about, text);
    this.notice(text);
  }
}

function reasonOf({ code, message }: Extract<StreamEvent, { type: 'retry' }>): string {
  if (code === 'model_rate_limited') return 'the provider is busy';
  return plainLine(message).replace(/[.\s]+$/, '');
}

function troubleOf({ state, attempt, heartbeat, isOfEarlierAttempt }: PendingActivity): string {
  if (state === 'paused') return 'paused by an operator';
  if (heartbeat?.unreachableSince !== undefined)
    return `agent unreachable since ${timeOfDay(heartbeat.unreachableSince)}`;
  if (attempt > 1 && (state === 'scheduled' || isOfEarlierAttempt)) return `attempt ${attempt} is to attach to it`;
  return '';
}

function endOf({ status, exitCode, handle, evidence }: Call): string {
  switch (status) {
    case 'exited':
      return evidence?.code === 'signalled' ? 'sent' : `exit ${exitCode ?? '?'}`;
    case 'detached':
      return evidence?.code === 'background' ? `in the background, ${handle ?? ''}` : `still running, ${handle ?? ''}`;
    case 'canceled':
      return exitCode === undefined ? 'canceled, nothing ran' : `canceled, exit ${exitCode}`;
    case 'unknown':
      return 'outcome unknown';
    case 'no_effect':
      return 'nothing ran';
    case 'reserved':
    case 'starting':
    case 'running':
    case 'cancel_requested':
      return status;
  }
}

/** The bracketed lines that tell the model of a plain exit say here what is shown already. */
function lastLines({ result, status }: Call): string[] {
  const lines = (result?.text ?? '').split('\n').map((line) => plainLine(line).trimEnd());
  const isShown = (line: string): boolean => line === '' || (status === 'exited' && /^\[exit .*\]$/.test(line));
  return lines.filter((line) => !isShown(line)).slice(-FAILED_LINES_SHOWN);
}

function shorten(summary: string): string {
  const line = plainLine(summary);
  return line.length <= SUMMARY_CHARACTERS ? line : `${line.slice(0, SUMMARY_CHARACTERS - 1).toWellFormed()}…`;
}
