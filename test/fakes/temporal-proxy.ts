/** A proxy between a worker and Temporal, on the level of bytes: passes them on, late, not at all, or hangs up. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** `hold`: connections stay open and nothing gets through, as when a cable is pulled. */
export type LineState = 'open' | 'hold';

export class TemporalProxy {
  readonly address: string;
  /** What is passed on waits so long first. */
  delayMs = 0;
  readonly #upstreamPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: LineState = 'open';

  private constructor(server: Server, upstreamPort: number) {
    this.#server = server;
    this.#upstreamPort = upstreamPort;
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (incoming) => this.#pass(incoming));
  }

  static async open(upstreamPort: number): Promise<TemporalProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TemporalProxy(server, upstreamPort);
  }

  /** Hangs up on everybody; they may call again at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  hold(): void {
    this.#state = 'hold';
    for (const socket of this.#sockets) socket.pause();
  }

  release(): void {
    this.#state = 'open';
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(incoming: Socket): void {
    const outgoing = connect(this.#upstreamPort, '127.0.0.1');
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (bytes: Buffer) => {
        // Timers of one length fire in the order in which they were set, so bytes keep theirs.
        if (this.delayMs === 0) to.write(bytes);
        else setTimeout(() => void to.write(bytes), this.delayMs);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#state === 'hold') from.pause();
    }
  }
}
