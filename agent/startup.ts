/**
 * The start-up script of a workspace: run once per incarnation, as a command of the journal like any other, so that a
 * killed agent adopts it and a restarted one doesn't run it again. Until it has ended, new commands wait (I13).
 */
import { resolve } from 'node:path';
import { CodedError } from '../contract/failures.ts';
import { buildExecutionKey, parseExecutionKey } from '../contract/execution-key.ts';
import type { ChatId, Nonce, ToolCallId } from '../contract/ids.ts';
import { parseMessageId } from '../contract/ids.ts';
import type { InfoAnswer } from '../contract/wire/info.ts';
import type { StartRequest } from '../contract/wire/start.ts';

/** Of the script's own; no chat of people can have this id, which has a character that theirs may not have. */
const STARTUP_CHAT = 'startup:' as ChatId;

export type StartupState = NonNullable<InfoAnswer['startup']>;

export class Startup {
  readonly #script: string | undefined;
  #state: StartupState | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(script: string | undefined) {
    this.#script = script === undefined ? undefined : resolve(script);
    if (this.#script !== undefined) this.#state = { state: 'running' };
  }

  /** Undefined when there is no script. */
  get state(): StartupState | undefined {
    return this.#state;
  }

  get isReady(): boolean {
    return this.#state?.state !== 'running';
  }

  get ended(): Promise<void> {
    return this.isReady ? Promise.resolve() : this.#ended.promise;
  }

  /** The request by which the script runs, for `start`; undefined when there is none. */
  requestFor(target: StartRequest['target']): StartRequest | undefined {
    if (this.#script === undefined) return undefined;
    const key = buildExecutionKey({
      messageId: parseMessageId(1),
      toolCallId: `startup-${target.incarnation}` as ToolCallId,
    });
    return {
      protocol: 1,
      target,
      chatId: STARTUP_CHAT,
      key: parseExecutionKey(key),
      nonce: target.incarnation as string as Nonce,
      command: `exec '${this.#script.replaceAll("'", "'\\''")}'`,
      background: false,
    };
  }

  /** Whatever its end: a failed script must not lock people out of the workspace in which they would mend it. */
  end(result: { readonly exitCode?: number; readonly reason?: string }): void {
    this.#state = { state: 'ended', ...result };
    this.#ended.resolve();
  }

  isOwn(chatId: ChatId): boolean {
    return chatId === STARTUP_CHAT;
  }

  notReady(): CodedError {
    return new CodedError('not_ready', 'the start-up script of the workspace still runs, so nothing was started');
  }
}
