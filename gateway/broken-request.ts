/** What HTTP itself refuses, before there is a request that a route could answer. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../contract/failures.ts';
import { toErrorReply } from './errors.ts';

interface Problem {
  /** HTTP's own: a proxy in between knows it, too. */
  readonly status: number;
  readonly message: string;
  readonly field: string;
}

const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the headers are too large', field: 'headers' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request did not come in time', field: 'request' },
};
const OTHER: Problem = { status: 400, message: 'this is not a request of HTTP/1.1', field: 'request' };

/** In the shape of every failure; the connection ends with it, since nobody knows where the next request would begin. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) {
    const { status, message, field } = PROBLEMS[error.code ?? ''] ?? OTHER;
    const body = JSON.stringify(toErrorReply(new Refusal('bad_request', message, field)).body);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroy(error);
}
