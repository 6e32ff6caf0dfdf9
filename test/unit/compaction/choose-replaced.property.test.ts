import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildPrompt } from '../../../activities/model/build-prompt.ts';
import { chooseReplaced, messageBytes } from '../../../activities/model/compaction/choose-replaced.ts';
import { refuseBrokenPrompt } from '../../../activities/model/strict-prompt.ts';
import { buildExecutionKey } from '../../../contract/execution-key.ts';
import { parseMessageId } from '../../../contract/ids.ts';
import type { ToolCallId } from '../../../contract/ids.ts';
import type { ConversationCall, ConversationMessage } from '../../../contract/messages.ts';
import { CHAT } from '../store/chat-fixture.ts';

type Kind = 'user' | 'answer' | 'calls' | 'open' | 'note';

interface Piece {
  readonly kind: Kind;
  readonly length: number;
}

const piece = fc.record({
  kind: fc.constantFrom<Kind>('user', 'user', 'answer', 'calls', 'calls', 'calls', 'open', 'note'),
  length: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 300, max: 30_000 })),
});
const conversations = fc
  .record({ hasSummary: fc.boolean(), pieces: fc.array(piece, { minLength: 1, maxLength: 30 }) })
  .map(({ hasSummary, pieces }) => conversationOf([{ kind: 'user', length: 40 }, ...pieces], hasSummary));

function conversationOf(pieces: readonly Piece[], hasSummary: boolean): ConversationMessage[] {
  const said = pieces.map(({ kind, length }, index): ConversationMessage => {
    const id = parseMessageId(index + 1);
    const text = `${kind} ${index} `.padEnd(length, 'x');
    if (kind === 'user') return { role: 'user', id, chatId: CHAT, turn: 1, text };
    if (kind === 'note') return { role: 'note', chatId: CHAT, afterMessageId: id, text };
    const calls = kind === 'answer' ? [] : [call(index, 'a', text, true), call(index, 'b', 'short', kind === 'calls')];
    return { role: 'assistant', id, chatId: CHAT, turn: 1, step: index, text: kind === 'answer' ? text : '', calls };
  });
  if (!hasSummary) return said;
  const summary = { role: 'summary', id: parseMessageId(999), chatId: CHAT, turn: 1, text: 's'.repeat(500) } as const;
  return [{ ...summary, replacedSteps: 0 }, ...said];
}

function call(index: number, name: string, text: string, hasResult: boolean): ConversationCall {
  const toolCallId = `${name}${index}` as ToolCallId;
  const key = buildExecutionKey({ messageId: parseMessageId(index + 1), toolCallId });
  const result = hasResult ? { result: { text, isError: false } } : {};
  return { key, toolCallId, toolName: 'execute', arguments: { command: 'make' }, ...result };
}

/** What the model sees afterwards. */
function compacted(conversation: readonly ConversationMessage[], text: string): ConversationMessage[] | undefined {
  const choice = chooseReplaced(conversation, { gainShareMin: 0 });
  if (choice === undefined) return undefined;
  const summary = { role: 'summary', id: parseMessageId(1000), chatId: CHAT, turn: 1, text, replacedSteps: 0 } as const;
  const gone = new Set<ConversationMessage>(choice.replaced);
  return [summary, ...conversation.filter((message) => !gone.has(message))];
}

const isAnswer = (message: ConversationMessage) => message.role === 'assistant' && message.calls.length === 0;

describe('what a summary takes the place of', () => {
  test('is never a message without an answer, a late truth, or one with an open call', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const after = compacted(conversation, 'short');
        if (after === undefined) return;
        const unanswered = conversation.slice(conversation.findLastIndex(isAnswer) + 1);
        for (const message of conversation) {
          const isKept =
            (message.role === 'user' && unanswered.includes(message)) ||
            message.role === 'note' ||
            (message.role === 'assistant' && message.calls.some(({ result }) => result === undefined));
          if (isKept) expect(after).toContain(message);
        }
      }),
    );
  });

  test('C1: leaves a conversation that strict providers take, with one summary, first, and the rest in order', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const closed = conversation.filter(
          (message) => message.role !== 'assistant' || message.calls.every(({ result }) => result !== undefined),
        );
        const after = compacted(closed, 'short');
        if (after === undefined) return;
        expect(() => refuseBrokenPrompt(buildPrompt(after))).not.toThrow();
        expect(after.filter(({ role }) => role === 'summary')).toHaveLength(1);
        expect(after.slice(1)).toEqual(closed.filter((message) => after.includes(message)));
      }),
    );
  });

  test('is shorter by three quarters of what may go, and at most a quarter of that stays, from the end', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const choice = chooseReplaced(conversation, { gainShareMin: 0 });
        if (choice === undefined) return;
        const sizes = choice.replaced.map(messageBytes);
        expect(choice.replacedBytes).toBe(sizes.reduce((sum, each) => sum + each, 0));
        expect(choice.replacedBytes).toBeGreaterThanOrEqual(1024);
        const replaced = new Set<ConversationMessage>(choice.replaced);
        const answered = conversation.findLastIndex(isAnswer);
        const could = conversation.filter(
          (message, index) =>
            (message.role === 'assistant' && message.calls.every(({ result }) => result !== undefined)) ||
            message.role === 'summary' ||
            (message.role === 'user' && index < answered),
        );
        const total = could.map(messageBytes).reduce((sum, each) => sum + each, 0);
        expect(choice.replacedBytes).toBeGreaterThanOrEqual(total * 0.75);
        // A run at the beginning: nothing older than what is replaced stays, but for what must.
        expect(could.map((message) => replaced.has(message)).lastIndexOf(true)).toBe(replaced.size - 1);
      }),
    );
  });
});

test('nothing is replaced where nothing but an earlier summary, or too little, could be', () => {
  const user = conversationOf([{ kind: 'user', length: 5000 }], true);
  expect(chooseReplaced(user, { gainShareMin: 0 })).toBeUndefined();
  const small = conversationOf(
    [
      { kind: 'user', length: 10 },
      { kind: 'answer', length: 900 },
    ],
    false,
  );
  expect(chooseReplaced(small, { gainShareMin: 0 })).toBeUndefined();
  const mostlyNew = conversationOf(
    [
      { kind: 'user', length: 10 },
      { kind: 'answer', length: 2000 },
      { kind: 'user', length: 30_000 },
    ],
    false,
  );
  expect(chooseReplaced(mostlyNew, { gainShareMin: 0.25 })).toBeUndefined();
  expect(chooseReplaced(mostlyNew, { gainShareMin: 0 })?.replaced).toHaveLength(2);
});
