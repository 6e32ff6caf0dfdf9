/** One call: what was asked for, how it is, what it says, how it ended. In the ledger's words. */
import { UNREACHED } from './api.ts';
import type { SeenTail } from './conversation.ts';
import { make, makeButton, setText } from './elements.ts';
import { sayBytes, sayDuration } from './say.ts';
import type { Call } from './wire.ts';

const OPEN_STATES = ['reserved', 'starting', 'running', 'cancel_requested'];

export interface CallActions {
  /** Resolves when it is known whether the command has ended. */
  cancelCall(key: string): Promise<void>;
  /** What its command has printed so far, or why that can't be told. Never fails. */
  readOutput(key: string): Promise<string>;
}

export class CallCard {
  readonly element = make('li', { class: 'call' });
  readonly #state = make('span', { class: 'state' });
  readonly #facts = make('span');
  readonly #link = make('a', { target: '_blank', rel: 'noopener noreferrer' }, 'Turn in Temporal');
  readonly #cancel: HTMLButtonElement;
  readonly #command = make('code');
  readonly #tail = make('p', { class: 'tail' }, make('code'));
  readonly #word = make('p', { class: 'note' });
  readonly #resultName = make('summary', {}, 'Result');
  readonly #resultText = make('pre', { tabindex: '0', role: 'region', 'aria-label': 'Result' });
  readonly #result = make('details', {}, this.#resultName);
  readonly #outputText = make('pre', { tabindex: '0', role: 'region', 'aria-label': 'Output so far' });
  readonly #output = make('details', {}, make('summary', {}, 'Output so far'), this.#outputText);
  readonly #actions: CallActions;
  #call: Call | undefined;
  #seen: SeenTail | undefined;

  constructor(actions: CallActions) {
    this.#actions = actions;
    this.#cancel = makeButton('Cancel', { class: 'quiet' }, () => void this.#askToCancel());
    const facts = make('p', { class: 'facts' }, this.#state, this.#facts, this.#link, this.#cancel);
    this.element.append(this.#command, facts, this.#tail, this.#word, this.#output, this.#result);
    // A long result becomes part of the page only for those who want to read it.
    this.#result.addEventListener('toggle', () => this.#showResult());
    this.#output.addEventListener('toggle', () => void this.#showOutput());
  }

  update(call: Call, seen: SeenTail | undefined, link: string | undefined, nowMs: number): void {
    if (this.#call !== call) this.#showCall(call, link);
    this.#seen = seen;
    this.tick(nowMs);
    this.#tail.hidden = !isOpen(call) || (seen?.tail.lastLine ?? '') === '';
    setText(this.#tail.firstElementChild ?? this.#tail, seen?.tail.lastLine ?? '');
    const unreachable = seen?.tail.phase === 'unreachable' ? seen.tail.unreachableSince : undefined;
    const word = unreachable === undefined ? wordOf(call) : `Its agent does not answer, since ${unreachable}.`;
    this.#word.hidden = word === '';
    setText(this.#word, word);
  }

  /** State and age, which go on by themselves. */
  tick(nowMs: number): void {
    if (this.#call === undefined) return;
    const state = observedState(this.#call, this.#seen);
    setText(this.#state, state);
    this.element.dataset['tone'] = toneOf(this.#call, state);
    const isRunning = runs(this.#call, state);
    this.#cancel.hidden = !isRunning;
    this.#output.hidden = !isRunning;
    setText(this.#facts, factsOf(this.#call, this.#seen, nowMs).join(' · '));
  }

  /** The gateway is there again: what could not be asked is asked now. */
  reconnect(): void {
    if (this.#outputText.textContent === UNREACHED) void this.#showOutput();
  }

  #showCall(call: Call, link: string | undefined): void {
    this.#call = call;
    this.element.dataset['key'] = call.key;
    setText(this.#command, commandOf(call));
    this.#cancel.setAttribute('aria-label', `Cancel ${commandOf(call)}`);
    this.#link.hidden = link === undefined;
    if (link !== undefined) this.#link.href = link;
    this.#result.hidden = call.result === undefined;
    setText(this.#resultName, call.result?.isError === true ? 'Result (an error)' : 'Result');
    this.#showResult();
  }

  async #askToCancel(): Promise<void> {
    if (this.#call === undefined) return;
    // Still in the order of the keyboard: a button that is disabled would lose the focus.
    if (this.#cancel.getAttribute('aria-disabled') === 'true') return;
    this.#cancel.setAttribute('aria-disabled', 'true');
    setText(this.#cancel, 'Being canceled');
    await this.#actions.cancelCall(this.#call.key);
    this.#cancel.removeAttribute('aria-disabled');
    setText(this.#cancel, 'Cancel');
  }

  /** As it is when it is opened; opened again it is read anew. */
  async #showOutput(): Promise<void> {
    if (!this.#output.open || this.#call === undefined) return;
    setText(this.#outputText, 'Asking its agent …');
    setText(this.#outputText, await this.#actions.readOutput(this.#call.key));
  }

  #showResult(): void {
    if (!this.#result.open) return;
    setText(this.#resultText, this.#call?.result?.text ?? '');
    if (!this.#resultText.isConnected) this.#result.append(this.#resultText);
  }
}

function isOpen(call: Call): boolean {
  return call.result === undefined && OPEN_STATES.includes(call.status);
}

/** `starting` and `running` are no rows of the store: they are observed from the call's heartbeat. */
function observedState(call: Call, seen: SeenTail | undefined): string {
  if (!isOpen(call) || call.status === 'cancel_requested' || seen === undefined) return call.status;
  return seen.tail.phase === 'dispatching' ? 'starting' : 'running';
}

/** A command that runs: also one that the model has its result of, in the background. */
function runs(call: Call, state: string): boolean {
  return call.toolName === 'execute' && (state === 'running' || state === 'detached');
}

function toneOf(call: Call, state: string): string {
  if (isOpen(call)) return 'busy';
  if (call.status === 'unknown' || call.result?.isError === true) return 'bad';
  if (call.exitCode !== undefined && call.exitCode !== 0) return 'bad';
  return state === 'exited' ? 'good' : 'quiet';
}

function commandOf({ toolName, arguments: given, summary }: Call): string {
  const command = given?.['command'];
  return toolName === 'execute' && typeof command === 'string' ? `$ ${command}` : summary;
}

function factsOf(call: Call, seen: SeenTail | undefined, nowMs: number): string[] {
  const facts: string[] = [];
  if (call.exitCode !== undefined) facts.push(`exit ${call.exitCode}`);
  const ageMs = ageOf(call, seen, nowMs);
  if (ageMs !== undefined) facts.push(sayDuration(ageMs));
  if (isOpen(call) && seen?.tail.bytes !== undefined) facts.push(sayBytes(seen.tail.bytes));
  if (isOpen(call) && seen !== undefined && seen.tail.attempt > 1) facts.push(`attempt ${seen.tail.attempt}`);
  if (call.handle !== undefined) facts.push(call.handle);
  return facts;
}

/** Of a running command by the gateway's clock, of one that has ended its own; else how long the call has taken. */
function ageOf(call: Call, seen: SeenTail | undefined, nowMs: number): number | undefined {
  if (isOpen(call) && seen?.tail.ageMs !== undefined) return seen.tail.ageMs + (nowMs - seen.seenMs);
  if (call.durationMs !== undefined) return call.durationMs;
  if (call.createdAt === undefined) return undefined;
  const endMs = call.resolvedAt === undefined ? (isOpen(call) ? nowMs : undefined) : Date.parse(call.resolvedAt);
  return endMs === undefined ? undefined : endMs - Date.parse(call.createdAt);
}

/** Why it is so, where the state alone doesn't say it. */
function wordOf(call: Call): string {
  return call.status === 'exited' || isOpen(call) ? '' : (call.evidence?.detail ?? '');
}
