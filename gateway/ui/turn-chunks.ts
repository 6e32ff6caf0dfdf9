/**
 * One turn in the words of the AI SDK's UI message stream: all its steps are one assistant message, `turn-<n>`, so that
 * a stream that is asked for again replaces what its reader has of it. A model's attempt that was withdrawn is taken
 * back by `reset-step` (H04); a call's result comes once, its live tail before that as preliminary output.
 */
import type { UIMessageChunk } from 'ai';
import type { ChatFrame, StoredCall } from '../open-store.ts';
import type { Tail } from '../stream/live-tails.ts';
import { errorTextOf, outputOf } from './call-output.ts';

type Call = Pick<StoredCall, 'key' | 'toolName' | 'status' | 'result' | 'exitCode' | 'handle'>;
type AssistantMessage = Extract<ChatFrame, { type: 'message'; role: 'assistant' }>;
type TurnEnded = Extract<ChatFrame, { type: 'turn' }>;

export function uiMessageId(turn: number): string {
  return `turn-${turn}`;
}

export class TurnChunks {
  readonly #turn: number;
  #step: number | undefined;
  #text: { readonly id: string; shown: string } | undefined;
  /** Calls of this turn, by key, with the status that was told with a result; undefined: none was. */
  readonly #told = new Map<string, string | undefined>();
  #isDone = false;

  constructor(turn: number) {
    this.#turn = turn;
  }

  /** The turn has ended, and its last chunk was told. */
  get isDone(): boolean {
    return this.#isDone;
  }

  begin(): UIMessageChunk[] {
    return [{ type: 'start', messageId: uiMessageId(this.#turn), messageMetadata: { turn: this.#turn } }];
  }

  take(frame: ChatFrame | Tail): UIMessageChunk[] {
    if (this.#isDone) return [];
    switch (frame.type) {
      case 'part':
        return frame.turn === this.#turn ? this.#part(frame) : [];
      case 'withdrawn':
        return frame.turn === this.#turn ? this.#withdraw(frame.step) : [];
      case 'message':
        return frame.role === 'assistant' && frame.turn === this.#turn ? this.#message(frame) : [];
      case 'call':
        return this.#told.has(frame.call.key) ? this.#result(frame.call) : [];
      case 'tail':
        return this.#tail(frame);
      case 'retry':
        if (frame.turn !== this.#turn) return [];
        return [{ type: 'data-retry', transient: true, data: { code: frame.code, retryInMs: frame.retryInMs } }];
      case 'turn':
        return frame.turn === this.#turn && frame.state !== 'active' ? this.#end(frame) : [];
      case 'reset':
        // What was told may not be so any more: the reader gets the turn again when it asks for it.
        this.#isDone = true;
        return [{ type: 'error', errorText: `the stream was reset (${frame.reason}): load the chat again` }];
      case 'chat':
      case 'compaction':
      case 'hidden':
      case 'live':
      case 'note':
      case 'queue':
      case 'queued':
      case 'status':
        return [];
    }
  }

  #part({ step, messageId, text }: { step: number; messageId: number; text: string }): UIMessageChunk[] {
    const chunks = this.#enterStep(step);
    if (this.#text === undefined) {
      this.#text = { id: `text-${messageId}`, shown: '' };
      chunks.push({ type: 'text-start', id: this.#text.id });
    }
    this.#text.shown += text;
    chunks.push({ type: 'text-delta', id: this.#text.id, delta: text });
    return chunks;
  }

  #withdraw(step: number): UIMessageChunk[] {
    if (this.#step !== step) return [];
    this.#text = undefined;
    return [{ type: 'reset-step' }];
  }

  /** The stored text wins over what was streamed (S1). */
  #message({ id, step, text, calls }: AssistantMessage): UIMessageChunk[] {
    const chunks = this.#enterStep(step);
    if (this.#text !== undefined && !text.startsWith(this.#text.shown)) chunks.push(...this.#withdraw(step));
    if (text !== '') {
      const rest = text.slice(this.#text?.shown.length ?? 0);
      if (rest !== '') chunks.push(...this.#part({ step, messageId: id, text: rest }));
    }
    chunks.push(...this.#endText());
    for (const call of calls) {
      const { key: toolCallId, toolName, arguments: input } = call;
      this.#told.set(toolCallId, undefined);
      // Nobody but the agent may carry it out, so the client is told that it isn't its own to run.
      chunks.push({ type: 'tool-input-available', toolCallId, toolName, input, providerExecuted: true });
      chunks.push(...this.#result(call));
    }
    return chunks;
  }

  #result(call: Call): UIMessageChunk[] {
    if (call.result === undefined || this.#told.get(call.key) === call.status) return [];
    this.#told.set(call.key, call.status);
    const common = { toolCallId: call.key, providerExecuted: true };
    const errorText = errorTextOf(call);
    if (errorText !== undefined) return [{ type: 'tool-output-error', errorText, ...common }];
    return [{ type: 'tool-output-available', output: outputOf(call), ...common }];
  }

  #tail({ key, state, attempt, phase, bytes, lastLine, startedAt, unreachableSince }: Tail): UIMessageChunk[] {
    if (!this.#told.has(key) || this.#told.get(key) !== undefined) return [];
    const output = { status: 'running', state, attempt, phase, bytes, lastLine, startedAt, unreachableSince };
    return [{ type: 'tool-output-available', toolCallId: key, output, providerExecuted: true, preliminary: true }];
  }

  #end({ state, error }: TurnEnded): UIMessageChunk[] {
    this.#isDone = true;
    const chunks = [...this.#endText(), ...this.#leaveStep()];
    if (state === 'completed') return [...chunks, { type: 'finish', finishReason: 'stop' }];
    if (state === 'interrupted') return [...chunks, { type: 'finish', finishReason: 'interrupted' }];
    const errorText = error === undefined ? 'the turn failed' : `${error.code}: ${error.message}`;
    return [...chunks, { type: 'error', errorText }];
  }

  #enterStep(step: number): UIMessageChunk[] {
    if (this.#step === step) return [];
    const chunks = [...this.#endText(), ...this.#leaveStep()];
    this.#step = step;
    return [...chunks, { type: 'start-step' }];
  }

  #leaveStep(): UIMessageChunk[] {
    if (this.#step === undefined) return [];
    this.#step = undefined;
    return [{ type: 'finish-step' }];
  }

  #endText(): UIMessageChunk[] {
    if (this.#text === undefined) return [];
    const { id } = this.#text;
    this.#text = undefined;
    return [{ type: 'text-end', id }];
  }
}
