/** A proxy between worker and agent that loses answers: the request has reached the agent, the worker doesn't know. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** `bad-gateway`: answers 502 in place of the agent's answer · `cut`: closes the connection · `hold`: never answers. */
export type AnswerFault = 'bad-gateway' | 'cut' | 'hold';

export interface Exchange {
  readonly verb: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What the agent said, also where the worker wasn't told. */
  answer?: Readonly<Record<string, unknown>>;
  fault?: AnswerFault;
  /** Whoever had asked went away before the answer, or the agent is not there. */
  isLost?: boolean;
}

export class FaultProxy {
  readonly address: string;
  readonly exchanges: Exchange[] = [];
  /** Asked when the agent has answered: what becomes of the answer. */
  faultOf: (exchange: Exchange) => AnswerFault | undefined = () => undefined;
  /** Runs before a request is passed on. */
  onRequest: (exchange: Exchange) => Promise<void> | void = () => undefined;
  readonly #agentSocket: string;
  readonly #server: Server;

  private constructor(socket: string, agentSocket: string) {
    this.address = `unix:${socket}`;
    this.#agentSocket = agentSocket;
    this.#server = createServer((incoming, response) => {
      // An agent that isn't there is nobody's word either.
      this.#pass(incoming, response).catch(() => response.destroy());
    });
  }

  static async open(socket: string, agentSocket: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(socket, agentSocket);
    proxy.#server.listen(socket);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Exchanges of one verb, with one key where it is given. */
  of(verb: string, key?: string): Exchange[] {
    return this.exchanges.filter((each) => each.verb === verb && (key === undefined || each.body['key'] === key));
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(incoming);
    const verb = incoming.url?.split('/').at(-1) ?? '';
    const exchange: Exchange = { verb, body: JSON.parse(bytes.toString()) as Record<string, unknown> };
    this.exchanges.push(exchange);
    await this.onRequest(exchange);
    const answer = await this.#ask(incoming, response, bytes).catch((error: unknown) => {
      exchange.isLost = true;
      throw error;
    });
    exchange.answer = JSON.parse(answer.text.toString()) as Record<string, unknown>;
    const fault = this.faultOf(exchange);
    if (fault === undefined) {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
      return;
    }
    exchange.fault = fault;
    if (fault === 'bad-gateway') response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    else if (fault === 'cut') response.destroy();
  }

  async #ask(incoming: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<AgentAnswer> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const outgoing = request({
      socketPath: this.#agentSocket,
      method: incoming.method,
      path: incoming.url,
      headers: { 'content-type': 'application/json', 'content-length': bytes.length },
      signal: gone.signal,
      agent: false,
    });
    outgoing.end(bytes);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, text: await buffer(answer) };
  }
}

interface AgentAnswer {
  readonly status: number;
  readonly text: Buffer;
}
