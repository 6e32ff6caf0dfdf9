/** A gateway without Temporal: of a stream it needs the store only. `node bench/stream/gateway.ts STORE` */
import { StreamPlaces } from '../../gateway/access/stream-places.ts';
import type { ChatActions } from '../../gateway/chat-actions.ts';
import { createServer } from '../../gateway/server.ts';
import { LiveTails } from '../../gateway/stream/live-tails.ts';
import { openStore } from '../../store/open-store.ts';

const store = await openStore(process.argv[2] ?? '');
const stopping = new AbortController();
const server = createServer({
  services: {
    store,
    // Nothing is sent in this measurement.
    chats: {} as ChatActions,
    tails: new LiveTails(async () => []),
    places: new StreamPlaces(),
    defaults: {},
    stopping: stopping.signal,
  },
  report: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`ready: ${await server.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.once('SIGTERM', () => {
  stopping.abort();
  void server.close().then(() => store.close());
});
