/** A Temporal server on a file, that may be killed and started again on its own port. */
import { join } from 'node:path';
import { startDevServer } from '../../tools/temporal/dev-server.ts';
import type { DevServer } from '../../tools/temporal/dev-server.ts';

export class FileServer {
  readonly port: number;
  readonly namespace: string;
  readonly #dbFile: string;
  #server: DevServer;

  private constructor(dbFile: string, server: DevServer) {
    this.#dbFile = dbFile;
    this.#server = server;
    this.namespace = server.namespace;
    this.port = Number(server.address.split(':').at(-1));
  }

  static async start(folder: string): Promise<FileServer> {
    const dbFile = join(folder, 'temporal.db');
    return new FileServer(dbFile, await startDevServer({ dbFile, env: ownEnvironment() }));
  }

  get address(): string {
    return this.#server.address;
  }

  get pid(): number {
    const { pid } = this.#server;
    if (pid === undefined) throw new Error('a server of our own has a pid');
    return pid;
  }

  /** TERM, or KILL; resolves when it is gone. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (signal === 'SIGKILL') process.kill(this.pid, signal);
    await this.#server.stop();
  }

  async restart(): Promise<void> {
    this.#server = await startDevServer({ dbFile: this.#dbFile, port: this.port, env: ownEnvironment() });
  }
}

/** A server that is the user's may not be killed. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, TEMPORAL_ADDRESS: undefined };
}
