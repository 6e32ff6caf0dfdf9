import { expect, test, vi } from 'vitest';
import { createPartWriter } from '../../../activities/model/part-writer.ts';

test('text is shown within the interval, also when nothing comes after it', async () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const parts = createPartWriter(async (text) => void written.push(text));
    await parts.add('one ');
    expect(written).toEqual(['one ']);
    await parts.add('two ');
    await parts.add('three');
    await vi.advanceTimersByTimeAsync(70);
    expect(written).toEqual(['one ']);
    await vi.advanceTimersByTimeAsync(10);
    expect(written).toEqual(['one ', 'two three']);
  } finally {
    vi.useRealTimers();
  }
});

test('a write that fails is told at once and ever after, and stopping waits for the one that is under way', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const parts = createPartWriter(() => promise);
  const added = parts.add('one');
  let hasStopped = false;
  const stopped = parts.stop().then(() => (hasStopped = true));
  await Promise.resolve();
  expect(hasStopped).toBe(false);
  reject(new Error('overtaken'));
  await expect(added).rejects.toThrow('overtaken');
  await stopped;
  await expect(parts.add('two')).rejects.toThrow('overtaken');
});
