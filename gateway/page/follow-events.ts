/** Follows a chat's events and comes back by its cursor, for as long as it isn't told to stop. */
import { ApiError } from './api.ts';
import type { Api } from './api.ts';
import { readEvents } from './read-events.ts';
import type { Frame } from './wire.ts';

const BACK_OFF_MS_MIN = 500;
const BACK_OFF_MS_MAX = 15_000;
/** The gateway beats every 15 s: three beats missed, and nobody is there. */
const SILENCE_MS_MAX = 45_000;

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'connected' }
  | { readonly state: 'waiting'; readonly retryInMs: number }
  /** It can't be followed: asking again would be answered the same. */
  | { readonly state: 'refused'; readonly error: ApiError };

export interface FollowOptions {
  readonly api: Api;
  readonly chatId: string;
  readonly messagesMax: number;
  readonly signal: AbortSignal;
  onFrame(frame: Frame): void;
  onConnection(connection: Connection): void;
}

export async function followEvents(options: FollowOptions): Promise<void> {
  const { signal, onConnection } = options;
  const progress: Progress = { cursor: undefined, failures: 0 };
  while (!signal.aborted) {
    onConnection({ state: 'connecting' });
    try {
      await followOnce(options, progress);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.isRefusal) {
        onConnection({ state: 'refused', error });
        return;
      }
    }
    if (signal.aborted) return;
    const retryInMs = backOffMs(progress.failures);
    progress.failures += 1;
    onConnection({ state: 'waiting', retryInMs });
    await waitToRetry(retryInMs, signal);
  }
}

interface Progress {
  /** The id of the last event that was taken whole. */
  cursor: string | undefined;
  failures: number;
}

async function followOnce(options: FollowOptions, progress: Progress): Promise<void> {
  const { api, chatId, messagesMax, signal, onFrame, onConnection } = options;
  const silence = new AbortController();
  const ended = AbortSignal.any([signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  const hear = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  };
  try {
    const response = await api.open(`/v1/chats/${encodeURIComponent(chatId)}/events?messages=${messagesMax}`, {
      signal: ended,
      headers: progress.cursor === undefined ? {} : { 'last-event-id': progress.cursor },
    });
    if (response.body === null) return;
    onConnection({ state: 'connected' });
    for await (const { id, data } of readEvents(response.body, hear)) {
      if (signal.aborted) return;
      progress.failures = 0;
      onFrame(JSON.parse(data) as Frame);
      if (id !== undefined) progress.cursor = id;
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** Doubled with each failure; scattered, so that the tabs of a gateway that restarts don't come back as one. */
function backOffMs(failures: number): number {
  const full = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS_MIN * 2 ** failures);
  return Math.round(full * (0.75 + Math.random() / 4));
}

/** Also ends when the machine is on the network again, or somebody looks at the page. */
function waitToRetry(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = (): void => {
      over.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    over.signal.addEventListener('abort', () => clearTimeout(timer));
    signal.addEventListener('abort', end, { signal: over.signal });
    addEventListener('online', end, { signal: over.signal });
    document.addEventListener('visibilitychange', () => document.hidden || end(), { signal: over.signal });
  });
}
