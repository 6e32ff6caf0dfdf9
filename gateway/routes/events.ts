/** The stream of one chat, for as long as somebody reads it. */
import { z } from 'zod';
import { Refusal } from '../../contract/failures.ts';
import { STREAM_RETRY_MS } from '../limits.ts';
import { OpenCalls } from '../stream/open-calls.ts';
import { Sse } from '../stream/sse.ts';
import { requireChat } from './chats.ts';
import { streamRoute } from './route.ts';
import { chatParamsSchema, wholeNumberSchema } from './schemas.ts';

export const eventsRoute = streamRoute({
  method: 'GET',
  path: '/v1/chats/:chatId/events',
  operationId: 'followChat',
  summary:
    'Server-sent events: a snapshot, then each event as it comes. With Last-Event-ID (or after) only what came since. ' +
    'See docs/gateway.md for the events and the rules of reading them.',
  streams: 'One JSON object each, with its type',
  params: chatParamsSchema,
  query: z.strictObject({
    after: wholeNumberSchema.optional().describe('As Last-Event-ID, which wins'),
    messages: wholeNumberSchema.optional().describe('Of a snapshot, only so many of the newest messages'),
  }),
  handle: async ({ params: { chatId }, query, access, services, reply, lastEventId }) => {
    const { activeTurn } = await requireChat(services, access, chatId);
    const after = lastEventId === undefined || lastEventId === '' ? query.after : parseCursor(lastEventId);
    using _ = services.places.take(access.name);
    reply.hijack();
    using sse = new Sse(reply.raw);
    sse.retryAfter(STREAM_RETRY_MS);
    using open = new OpenCalls(services.tails, chatId, (tail) => void sse.send({ data: JSON.stringify(tail) }));
    if (after !== undefined && activeTurn !== undefined) {
      open.resume(await services.store.listCalls({ chatId, turn: activeTurn }));
    }
    const frames = services.store.followChat({
      chatId,
      ...(after !== undefined && { after }),
      ...(query.messages !== undefined && { messagesMax: query.messages }),
      signal: AbortSignal.any([sse.gone, services.stopping]),
    });
    for await (const frame of frames) {
      // Only what can be gone on from has an id: one that is cut off within a snapshot gets it whole again.
      await sse.send({ data: JSON.stringify(frame), ...('seq' in frame && { id: frame.seq }) });
      open.note(frame);
    }
    sse.end();
  },
});

function parseCursor(lastEventId: string): number {
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Refusal('bad_request', 'Last-Event-ID is the id of an event of this stream', 'Last-Event-ID');
}
