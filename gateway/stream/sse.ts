/** One server-sent event stream on a socket: writes as fast as its reader takes it, and beats while there is nothing. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { STREAM_BEAT_MS } from '../limits.ts';

export class Sse implements Disposable {
  readonly #response: ServerResponse;
  readonly #beat: NodeJS.Timeout;
  readonly #leaving = new AbortController();

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      // Proxies of the nginx family would gather what should be seen now.
      'x-accel-buffering': 'no',
      ...headers,
    });
    response.flushHeaders();
    response.on('close', () => this.#leaving.abort());
    response.on('error', () => this.#leaving.abort());
    this.#beat = setInterval(() => {
      // A reader that doesn't take what is there already gets no beats on top.
      if (!response.writableNeedDrain) this.#write(': beat\n\n');
    }, STREAM_BEAT_MS);
  }

  /** Aborted when the reader has gone. */
  get gone(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Resolves when the reader may be sent more. */
  async send(event: { readonly data: string; readonly id?: string | number }): Promise<void> {
    // JSON has no line breaks of its own, so one `data` line holds it.
    const id = event.id === undefined ? '' : `id: ${event.id}\n`;
    if (this.#write(`${id}data: ${event.data}\n\n`) || this.gone.aborted) return;
    await once(this.#response, 'drain', { signal: this.gone }).catch(() => undefined);
  }

  retryAfter(ms: number): void {
    this.#write(`retry: ${ms}\n\n`);
  }

  end(): void {
    this[Symbol.dispose]();
    this.#response.end();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
  }

  #write(text: string): boolean {
    return this.gone.aborted || this.#response.write(text);
  }
}
