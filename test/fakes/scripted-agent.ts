/** An agent's HTTP face on a unix socket whose every answer a test decides. For what a real agent does only by bad luck. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAILURES } from '../../contract/failures.ts';
import type { FailureCode } from '../../contract/failures.ts';
import type { AgentId, Incarnation, JournalId } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';

export const SCRIPTED_TARGET: Target = {
  agentId: 'agent-1' as AgentId,
  journalId: 'journal-1' as JournalId,
  incarnation: 'incarnation-1' as Incarnation,
  sequence: 5,
};

export type Reply =
  /** The verb's own fields; whose word it is gets added. */
  | { readonly answer: object; readonly by?: Target }
  | { readonly refuse: FailureCode; readonly message?: string; readonly by?: Target }
  /** Bytes as they are, such as a proxy's. */
  | { readonly raw: string; readonly status: number }
  /** The connection is cut before an answer. */
  | 'cut'
  /** Nothing comes until the caller leaves. */
  | 'hang';

export interface AgentRequest {
  readonly verb: string;
  readonly body: Record<string, unknown>;
}

export interface ScriptedAgent {
  readonly address: string;
  readonly requests: readonly AgentRequest[];
  /** Resolves when a request that was left hanging was given up by its caller. */
  readonly abandoned: Promise<void>;
  close(): Promise<void>;
}

export async function startScriptedAgent(
  reply: (request: AgentRequest, count: number) => Reply,
): Promise<ScriptedAgent> {
  const folder = mkdtempSync(join(tmpdir(), 'scripted-agent-'));
  const socketPath = join(folder, 'agent.sock');
  const requests: AgentRequest[] = [];
  const abandoned = Promise.withResolvers<void>();

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const verb = (request.url ?? '').replace('/v1/', '');
    const received = { verb, body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> };
    requests.push(received);
    const decided = reply(received, requests.filter((other) => other.verb === verb).length);
    if (decided === 'hang') return void response.once('close', () => abandoned.resolve());
    if (decided === 'cut') return void request.socket.destroy();
    const { status, text } = render(decided);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(text);
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    address: `unix:${socketPath}`,
    requests,
    abandoned: abandoned.promise,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function render(reply: Exclude<Reply, string>): { status: number; text: string } {
  if ('raw' in reply) return { status: reply.status, text: reply.raw };
  const envelope = { protocol: 1, ...SCRIPTED_TARGET, ...reply.by };
  if ('answer' in reply) return { status: 200, text: JSON.stringify({ ...envelope, ...reply.answer }) };
  const { refuse: code, message = `refused: ${code}` } = reply;
  const status = FAILURES[code].status || 500;
  return { status, text: JSON.stringify({ ...envelope, error: { code, message } }) };
}
