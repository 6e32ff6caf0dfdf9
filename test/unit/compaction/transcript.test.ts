import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CUT_BYTES_MIN, cutEnd, cutMiddle } from '../../../activities/model/compaction/cut-bytes.ts';
import { writeTranscript } from '../../../activities/model/compaction/transcript.ts';
import { parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { ToolCallId } from '../../../contract/ids.ts';
import type { SaidMessage } from '../../../contract/messages.ts';
import { CHAT } from '../store/chat-fixture.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 400 }).map((each) => each.repeat(7).toWellFormed());

test('a text that is cut fits, and no character of it is torn', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: CUT_BYTES_MIN, max: 4000 }), (given, bytesMax) => {
      for (const cut of [cutMiddle(given, bytesMax), cutEnd(given, bytesMax)]) {
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytesMax);
        if (!given.includes('\ufffd')) expect(cut).not.toContain('\ufffd');
        if (Buffer.byteLength(given) <= bytesMax) expect(cut).toBe(given);
      }
    }),
  );
});

function step(id: number, result: string): SaidMessage {
  const key = parseExecutionKey(`${id}-c${id}`);
  const call = { key, toolCallId: `c${id}` as ToolCallId, toolName: 'execute', status: 'exited' } as const;
  const calls = [{ ...call, arguments: { command: `make ${id}` }, result: { text: result, isError: id === 1 } }];
  return { role: 'assistant', id: parseMessageId(id), chatId: CHAT, turn: 1, step: id, text: `Step ${id}.`, calls };
}

const long = (name: string) => `${name} begins${'.'.repeat(5000)}${name} ends`;

test('a request for a summary shortens the oldest tool results first, and keeps how they ended', () => {
  const transcript = writeTranscript([step(1, long('one')), step(2, long('two'))], 7000);
  expect(Buffer.byteLength(transcript)).toBeLessThanOrEqual(7000);
  expect(transcript).toContain('<call of execute, c1>\n{"command":"make 1"}');
  expect(transcript).toMatch(/<error of c1>\none begins\.+\n\[… left out …\]\n\.+one ends/);
  expect(transcript).toContain(long('two'));
});

test('a request for a summary fits whatever it is made of', () => {
  const messages = fc.array(
    text.map((result) => step(2, result)),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(messages, fc.integer({ min: 2048, max: 20_000 }), (given, bytesMax) => {
      expect(Buffer.byteLength(writeTranscript(given, bytesMax))).toBeLessThanOrEqual(bytesMax);
    }),
  );
});
