/**
 * `npm run bench:stream [-- --json] [-- --quick]`: how late a watcher is (a piece leaves the provider → HTTP, part writer,
 * SQLite → gateway → SSE, each a process of its own), 200 chats with a watcher each, and a watcher that is 5,000 events behind.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs, promisify } from 'node:util';
import { parseAgentId } from '../contract/ids.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { summarize } from './statistics.ts';
import { chatName } from './stream/names.ts';
import { watchChat } from './stream/watcher.ts';
import type { Watched } from './stream/watcher.ts';

const AGENT = parseAgentId('bench');
const PIECE_MS = 30;
const P95_MS_AIM = 150;

const { values: flags } = parseArgs({ options: { json: { type: 'boolean' }, quick: { type: 'boolean' } } });
const isQuick = flags.quick === true;
const extent = isQuick ? { pieces: 100, chats: 20, behind: 500 } : { pieces: 600, chats: 200, behind: 5000 };

async function startPiece(file: string, ...words: readonly string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'stream', file), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url: line.replace('ready: ', ''), child };
}

async function makeChats(store: Store, from: number, count: number): Promise<void> {
  for (let number = from; number < from + count; number += 1) {
    const chatId = chatName(number);
    await store.createChat({ chatId, agentId: AGENT });
    await store.enqueueUserMessage({ chatId, clientMessageId: 'm1', text: 'write' });
    await store.takeTurn({ chatId, turn: await store.reserveNextTurn(chatId), agentId: AGENT });
  }
}

interface Writing {
  readonly store: Store;
  readonly storeUrl: string;
  readonly url: string;
}

/** Watchers are there before the models begin. */
async function watchWriting(
  { store, storeUrl, url }: Writing,
  { from, chats, pieces, pieceMs }: { from: number; chats: number; pieces: number; pieceMs: number },
): Promise<Watched[]> {
  await makeChats(store, from, chats);
  let live = 0;
  const { promise: allLive, resolve } = Promise.withResolvers<void>();
  const noteLive = (): void => {
    live += 1;
    if (live === chats) resolve();
  };
  const watching = Array.from({ length: chats }, (_, index) =>
    watchChat(`${url}/v1/chats/${chatName(from + index)}/events`, noteLive),
  );
  await allLive;
  const provider = await startPiece('provider.ts', String(pieces), String(pieceMs));
  try {
    const words = [storeUrl, provider.url, String(from), String(chats)];
    await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'stream/writer.ts'), ...words]);
    return await Promise.all(watching);
  } finally {
    provider.child.kill('SIGTERM');
  }
}

async function measureCatchUp({ store, url }: Writing, number: number): Promise<{ events: number; ms: number }> {
  await makeChats(store, number, 1);
  const chatId = chatName(number);
  // Two events each; the queue is limited, and what was said of it stays in the events.
  for (let message = 0; message < extent.behind / 2; message += 1) {
    await store.enqueueUserMessage({ chatId, clientMessageId: `waits-${message}`, text: 'waits' });
    await store.deleteQueued({ chatId, clientMessageId: `waits-${message}` });
  }
  await store.endTurn({ chatId, turn: 1, state: 'completed' });
  const begunMs = performance.now();
  const { events } = await watchChat(`${url}/v1/chats/${chatId}/events?after=0`);
  return { events, ms: performance.now() - begunMs };
}

const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-stream-'));
const storeUrl = `sqlite:${join(folder, 'store.db')}`;
const store = await openStore(storeUrl);
const { url, child } = await startPiece('gateway.ts', storeUrl);
try {
  const writing = { store, storeUrl, url };
  const [one] = await watchWriting(writing, { from: 1, chats: 1, pieces: extent.pieces, pieceMs: PIECE_MS });
  const many = await watchWriting(writing, { from: 1000, chats: extent.chats, pieces: 40, pieceMs: 1000 });
  const behind = await measureCatchUp(writing, 9000);
  const figures = {
    oneLateMs: summarize(one?.lateMs ?? []),
    chats: extent.chats,
    manyLateMs: summarize(many.flatMap(({ lateMs }) => [...lateMs])),
    lost: [one, ...many].reduce((sum, watched) => sum + (watched?.lost ?? 1), 0),
    behindEvents: behind.events,
    behindMs: Math.round(behind.ms),
  };
  if (flags.json === true) process.stdout.write(`${JSON.stringify(figures)}\n`);
  else {
    const { oneLateMs, manyLateMs } = figures;
    process.stdout.write(
      [
        `one chat: a piece is with its watcher after ${oneLateMs.median.toFixed(0)} ms, p95 ${oneLateMs.p95.toFixed(0)} ms (aim ${P95_MS_AIM} ms), ${oneLateMs.count} pieces`,
        `${figures.chats} chats with a watcher each: ${manyLateMs.median.toFixed(0)} ms, p95 ${manyLateMs.p95.toFixed(0)} ms; lost or doubled: ${figures.lost}`,
        `${figures.behindEvents} events behind: caught up after ${figures.behindMs} ms`,
        '',
      ].join('\n'),
    );
  }
  if (figures.lost > 0) process.exitCode = 1;
} finally {
  child.kill('SIGTERM');
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}
