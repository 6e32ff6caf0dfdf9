/** One turn to one reader, from its first chunk to `[DONE]`. */
import type { FastifyReply } from 'fastify';
import type { UIMessageChunk } from 'ai';
import type { ChatId } from '../../contract/ids.ts';
import type { Access } from '../access/tokens.ts';
import type { ChatFrame } from '../open-store.ts';
import type { Services } from '../services.ts';
import { OpenCalls } from '../stream/open-calls.ts';
import { Sse } from '../stream/sse.ts';
import { TurnChunks } from './turn-chunks.ts';

const UI_STREAM_HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' };

export interface TurnStream {
  readonly chatId: ChatId;
  /** Undefined: the turn that takes `clientMessageId`, or the next one that begins. */
  readonly turn?: number;
  readonly clientMessageId?: string;
  readonly frames: AsyncIterable<ChatFrame>;
  /** Asked when the queue has changed before the turn began: there is nothing to wait for any more. */
  readonly isOff?: () => Promise<boolean>;
}

/** Ends when the turn has, or when its reader has gone: the turn goes on then (A1). */
export async function streamTurn(
  { services, access, reply }: { readonly services: Services; readonly access: Access; readonly reply: FastifyReply },
  open: (signal: AbortSignal) => Promise<TurnStream>,
): Promise<void> {
  using _ = services.places.take(access.name);
  const ended = new AbortController();
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  // Before the head is sent, so that a refusal is an answer with its status.
  const stream = await open(AbortSignal.any([gone.signal, ended.signal, services.stopping]));
  reply.hijack();
  using sse = new Sse(reply.raw, UI_STREAM_HEADERS);
  const send = async (chunks: readonly UIMessageChunk[]): Promise<void> => {
    for (const chunk of chunks) await sse.send({ data: JSON.stringify(chunk) });
  };
  let chunks = stream.turn === undefined ? undefined : new TurnChunks(stream.turn);
  if (chunks !== undefined) await send(chunks.begin());
  using calls = new OpenCalls(services.tails, stream.chatId, (tail) => void send(chunks?.take(tail) ?? []));
  try {
    for await (const frame of stream.frames) {
      if (chunks === undefined) {
        const turn = turnBegunBy(frame, stream.clientMessageId);
        if (frame.type === 'queue' && (await stream.isOff?.()) === true) break;
        if (turn === undefined) continue;
        chunks = new TurnChunks(turn);
        await send(chunks.begin());
      }
      await send(chunks.take(frame));
      calls.note(frame);
      if (chunks.isDone) break;
    }
  } finally {
    ended.abort();
  }
  const isOver = chunks === undefined ? !gone.signal.aborted && !services.stopping.aborted : chunks.isDone;
  if (!isOver) {
    // The gateway stops: cut, so that the reader sees a lost connection and comes back for the rest.
    reply.raw.destroy();
    return;
  }
  await sse.send({ data: '[DONE]' });
  sse.end();
}

function turnBegunBy(frame: ChatFrame, clientMessageId: string | undefined): number | undefined {
  if (clientMessageId === undefined) return frame.type === 'turn' && frame.state === 'active' ? frame.turn : undefined;
  const isIt = frame.type === 'message' && frame.role === 'user' && frame.clientMessageId === clientMessageId;
  return isIt ? frame.turn : undefined;
}
