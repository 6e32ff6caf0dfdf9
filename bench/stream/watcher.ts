/** Reads a chat's events over HTTP until its turn has ended, and says how late each piece was and what was missing. */
import { EventSourceParserStream } from 'eventsource-parser/stream';

export interface Watched {
  /** From the model to here, in milliseconds, a piece each. */
  readonly lateMs: readonly number[];
  readonly events: number;
  /** Pieces of the stored message that no part had shown, or that came twice. */
  readonly lost: number;
}

interface Frame {
  readonly type: string;
  readonly role?: string;
  readonly state?: string;
  readonly text?: string;
}

export async function watchChat(url: string, onLive: () => void = () => undefined): Promise<Watched> {
  const response = await fetch(url);
  if (response.body === null || response.status !== 200) throw new Error(`${response.status} for ${url}`);
  const lateMs: number[] = [];
  let shown = '';
  let stored: string | undefined;
  let events = 0;
  for await (const { data } of response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())) {
    const frame = JSON.parse(data) as Frame;
    const now = process.hrtime.bigint();
    events += 1;
    if (frame.type === 'live') onLive();
    if (frame.type === 'part') {
      for (const [, left] of (frame.text ?? '').matchAll(/@(\d+) /g))
        lateMs.push(Number(now - BigInt(left ?? 0)) / 1e6);
      shown += frame.text;
    }
    if (frame.type === 'message' && frame.role === 'assistant') stored = frame.text;
    if (frame.type === 'turn' && frame.state !== 'active') break;
  }
  return { lateMs, events, lost: stored === shown ? 0 : 1 };
}
