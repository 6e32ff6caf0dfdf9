import { expect, test } from 'vitest';
import { createProviderCallIds } from '../../../activities/model/provider-call-ids.ts';
import { assignToolCallIds } from '../../../activities/model/tool-call-ids.ts';
import { buildExecutionKey, parseExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { ToolCallId } from '../../../contract/ids.ts';

const LONG = 'x'.repeat(512);

test.each<[string, unknown[], string[]]>([
  ['usable ids stay raw', ['a/b', '%2F', '日本', ' '], ['a/b', '%2F', '日本', ' ']],
  [
    'ids that cannot be used are filled',
    ['', undefined, 'a\0', '\ud800', `${LONG}x`],
    ['call-0', 'call-1', 'call-2', 'call-3', 'call-4'],
  ],
  ['ids that come twice are told apart', ['a', 'a', 'a'], ['a', 'a~2', 'a~3']],
  [
    'a made-up id takes none that a later call brings',
    ['', 'a', 'a', 'call-0', 'a~2'],
    ['call-0~2', 'a', 'a~3', 'call-0', 'a~2'],
  ],
  ['a doubled id that is too long for a suffix is filled', [LONG, LONG], [LONG, 'call-1']],
])('%s', (_name, raw, expected) => {
  const ids = assignToolCallIds(raw);
  expect(ids).toEqual(expected);
  for (const toolCallId of ids) {
    const key = buildExecutionKey({ messageId: parseMessageId(4), toolCallId });
    expect(parseExecutionKey(key)).toBe(key);
  }
});

test('ids that a provider is sent fit its alphabet and are unique, also when it repeated one in a later step', () => {
  const providerCallId = createProviderCallIds();
  const sent = (['run:0', 'run:0', 'ok', 'ok', 'a b', 'a%b'] as ToolCallId[]).map((toolCallId, index) =>
    providerCallId({ toolCallId, key: buildExecutionKey({ messageId: parseMessageId(2 + (index % 2)), toolCallId }) }),
  );
  expect(new Set(sent).size).toBe(sent.length);
  expect(sent[2]).toBe('ok');
  for (const id of sent) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});
