/**
 * Stands for a model provider: answers chat completions by a stream, piece by piece; each piece says when it left.
 * `node bench/stream/provider.ts PIECES PIECE_MS`
 */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const [pieces = 1, pieceMs = 0] = process.argv.slice(2).map(Number);
/** Past the part writer's interval, so that its last piece is shown as a part too. */
const LAST_MS = 200;

function send(response: ServerResponse, delta: object, finishReason: string | null = null): void {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const chunk = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

async function answer(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let piece = 0; piece < pieces; piece += 1) {
    // Models don't write in time with each other.
    await delay(pieceMs * (0.5 + Math.random()));
    send(response, { content: `${piece}@${process.hrtime.bigint()} ` });
  }
  await delay(LAST_MS);
  send(response, {}, 'stop');
  response.end('data: [DONE]\n\n');
}

const server = createServer((request, response) => {
  request.resume().on('end', () => void answer(response));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready: http://127.0.0.1:${(server.address() as AddressInfo).port}/v1\n`);
});
process.once('SIGTERM', () => process.exit(0));
