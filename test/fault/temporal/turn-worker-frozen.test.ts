import { expect, test } from 'vitest';
import type { StreamEvent } from '../../../store/stream-events.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** 40 pieces of the scripted model, each different, so that mixed streams show. */
const TEXT = Array.from({ length: 40 }, (_, index) => `piece ${String(index).padStart(2, '0')} ------ `).join('');

test('I09: two attempts of generateStep overlap, and there is one message, one set of calls and no mixed stream', async () => {
  const whole = await Whole.open();
  const { store, chatId } = whole;
  const first = whole.worker('turn-worker');
  const events: StreamEvent[] = [];
  const readOn = async () => {
    events.push(...(await store.readEvents({ chatId, after: events.at(-1)?.seq ?? 0, limit: 1000 })));
    return events;
  };
  const shown = () => {
    const parts = events.slice(events.findLastIndex(({ type }) => type === 'withdrawn') + 1);
    return parts.map((event) => (event.type === 'part' ? event.text : '')).join('');
  };
  const step = { ...commands({ once: logged(whole.folder, 'once') }), text: TEXT };
  const turn = await whole.startTurn([step, DONE], { delayMs: 100 });
  await turn.until('the first attempt shows text', async () => (await readOn()).some(({ type }) => type === 'part'));
  first.signal('SIGSTOP');
  await whole.startTurnWorker();
  await turn.until('another attempt has withdrawn it and shows text', async () => {
    await readOn();
    return events.some(({ type }) => type === 'withdrawn') && shown() !== '';
  });
  first.signal('SIGCONT');
  await turn.until('the message is there', async () => {
    await readOn();
    if (events.some((event) => event.type === 'message' && event.role === 'assistant')) return true;
    // What a watcher sees at any moment is a beginning of the one text.
    expect(TEXT.slice(0, shown().length)).toBe(shown());
    return undefined;
  });
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 1 });

  const said = (await store.loadConversation(chatId)).filter(({ role }) => role === 'assistant');
  expect(said.map(({ text }) => text)).toEqual([TEXT, 'Done.']);
  expect((await readOn()).filter(({ type }) => type === 'withdrawn')).toHaveLength(1);
  // More than 2 where the server hands the second attempt to the stopped process too: it keeps its open polls.
  expect((await turn.ended('generateStep'))[0]?.attempt).toBeGreaterThan(1);
  expect((await turn.calls()).map(({ toolCallId, status }) => [toolCallId, status])).toEqual([['once', 'exited']]);
  expect(countRuns(whole.folder, 'once')).toBe(1);
});
