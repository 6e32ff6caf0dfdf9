import { expect, test } from 'vitest';
import { presentProcessOutput } from '../../../activities/presentation/present-process-output.ts';
import type { OutputAnswer } from '../../../contract/wire/output.ts';

/** As an agent answers for a process that has printed `text` so far, asked from a byte on. */
function readFrom(text: string, from: number): string {
  const bytes = Buffer.from(text).subarray(from);
  return presentProcessOutput({
    handle: 'p1',
    state: 'running',
    total: Buffer.byteLength(text),
    outputOpen: true,
    outputIncomplete: false,
    bytes: { from, next: from + bytes.length, base64: bytes.toString('base64') },
  } as unknown as OutputAnswer);
}

test.each([
  [2, 'bytes 2 to 6 of 6 so far; what comes next will begin at 6'],
  [6, 'bytes 6 to 6 of 6 so far; what comes next will begin at 6'],
  [5_000_000, 'no byte 5000000 yet: 6 bytes so far; go on with from_byte 6'],
])('a range from byte %i on says where to go on so that no byte is missed', (from, note) => {
  expect(readFrom('steady', from)).toContain(`[note: ${note}]`);
});
