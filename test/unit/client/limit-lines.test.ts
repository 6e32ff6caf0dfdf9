import { expect, test } from 'vitest';
import { limitLines } from '../../../client/dev/limit-lines.ts';

test('a piece that says the same over and over is held to 20 lines in 10 s, and what was left out is counted', () => {
  const lines: string[] = [];
  let nowMs = 0;
  const write = limitLines(
    (line) => lines.push(line),
    () => nowMs,
  );
  for (let count = 0; count < 50; count += 1) write('again');
  expect(lines).toHaveLength(20);
  nowMs = 10_000;
  write('news');
  expect(lines.slice(20)).toEqual(['… 30 more lines, left out', 'news']);
});
