import { describe, expect, test } from 'vitest';
import type { ChatState } from '../../../contract/chat.ts';
import { applyToChat } from '../../../workflows/chat-state.ts';
import type { ChatEvent, ChatMachine } from '../../../workflows/chat-state.ts';
import { shouldMoveChat } from '../../../workflows/continue-chat.ts';

const CHATS: Readonly<Record<ChatState, ChatMachine>> = {
  idle: { state: 'idle', waiting: 0, heldEdits: 0 },
  running: { state: 'running', turn: 3, waiting: 1, heldEdits: 0 },
  interrupting: { state: 'interrupting', turn: 3, waiting: 1, heldEdits: 1 },
  archived: { state: 'archived', waiting: 0, heldEdits: 0 },
};

const EVENTS = {
  send: { type: 'send', mode: 'queue' },
  'send to interrupt': { type: 'send', mode: 'interrupt' },
  'sent, waits': { type: 'sent', mode: 'queue', isWaiting: true },
  'sent to interrupt, waits': { type: 'sent', mode: 'interrupt', isWaiting: true },
  'sent, was taken before': { type: 'sent', mode: 'interrupt', isWaiting: false },
  edit: { type: 'edit' },
  'edit can be made': { type: 'edit_checked', isDone: false },
  'edit was made before': { type: 'edit_checked', isDone: true },
  delete: { type: 'delete_queued' },
  promote: { type: 'promote_queued' },
  interrupt: { type: 'interrupt' },
  'interrupt turn 3': { type: 'interrupt', turn: 3 },
  'interrupt turn 2': { type: 'interrupt', turn: 2 },
  bind: { type: 'bind' },
  archive: { type: 'archive' },
  reopen: { type: 'reopen' },
  'turn started': { type: 'turn_started', turn: 4 },
  'turn completed': { type: 'turn_ended', end: 'completed' },
  'turn failed': { type: 'turn_ended', end: 'failed' },
  'turn interrupted': { type: 'turn_ended', end: 'interrupted' },
  'turn gone': { type: 'turn_ended', end: 'gone' },
} as const satisfies Record<string, ChatEvent>;

type EventName = keyof typeof EVENTS;

/** `state: actions` for a move, the code for a refusal, `defect` for what can't happen. */
function outcomeOf(chat: ChatMachine, event: ChatEvent): string {
  const step = applyToChat(chat, event);
  if (step.kind === 'refuse') return step.code;
  if (step.kind === 'defect') return 'defect';
  return `${step.next.state}: ${step.actions.join(' ')}`.trimEnd();
}

const ENDED: Row = ['defect', 'idle: look', 'idle: apply_held_edits look', 'defect'];
const REFUSED = 'chat_archived';
/** In the order idle, running, interrupting, archived. */
type Row = readonly [string, string, string, string];

const TABLE: Readonly<Record<EventName, Row>> = {
  send: ['idle: enqueue_back', 'running: enqueue_back', 'interrupting: enqueue_back', REFUSED],
  'send to interrupt': ['idle: enqueue_front', 'running: enqueue_front', 'interrupting: enqueue_front', REFUSED],
  'sent, waits': ['idle: look', 'running:', 'interrupting:', REFUSED],
  'sent to interrupt, waits': ['idle: look', 'interrupting: interrupt_turn', 'interrupting:', REFUSED],
  'sent, was taken before': ['idle:', 'running:', 'interrupting:', REFUSED],
  edit: ['idle: check_edit', 'running: check_edit', 'interrupting: check_edit', REFUSED],
  'edit can be made': [
    'idle: apply_edit look',
    'interrupting: hold_edit interrupt_turn',
    'interrupting: hold_edit',
    REFUSED,
  ],
  'edit was made before': ['idle: apply_edit look', 'running: apply_edit', 'interrupting: apply_edit', REFUSED],
  delete: ['idle: delete_queued', 'running: delete_queued', 'interrupting: delete_queued', REFUSED],
  promote: ['idle: promote_queued', 'running: promote_queued', 'interrupting: promote_queued', REFUSED],
  interrupt: ['idle:', 'interrupting: interrupt_turn', 'interrupting:', 'archived:'],
  'interrupt turn 3': ['idle:', 'interrupting: interrupt_turn', 'interrupting:', 'archived:'],
  'interrupt turn 2': ['idle:', 'running:', 'interrupting:', 'archived:'],
  bind: ['idle: bind', 'running: bind', 'interrupting: bind', 'archived: bind'],
  archive: ['archived: archive', 'chat_busy', 'chat_busy', 'archived: archive'],
  reopen: ['idle: reopen', 'running: reopen', 'interrupting: reopen', 'idle: reopen'],
  'turn started': ['running:', 'defect', 'defect', 'defect'],
  'turn completed': ENDED,
  'turn failed': ENDED,
  'turn interrupted': ENDED,
  'turn gone': ENDED,
};

describe('a chat', () => {
  for (const [name, row] of Object.entries(TABLE)) {
    test(`T1: answers "${name}" in each of its states as the table says`, () => {
      const event = EVENTS[name as EventName];
      expect(Object.values(CHATS).map((chat) => outcomeOf(chat, event))).toEqual(row);
    });
  }

  test('T1: knows the turn that runs, and forgets it with its end', () => {
    const started = applyToChat(CHATS.idle, { type: 'turn_started', turn: 7 });
    expect(started).toMatchObject({ next: { state: 'running', turn: 7 } });
    const ended = applyToChat(CHATS.interrupting, { type: 'turn_ended', end: 'failed' });
    expect(ended).toMatchObject({ next: { state: 'idle', waiting: 1, heldEdits: 0 } });
    expect(ended).not.toHaveProperty('next.turn');
  });

  test('counts the edits that wait for the end of its turn', () => {
    expect(applyToChat(CHATS.running, EVENTS['edit can be made'])).toMatchObject({ next: { heldEdits: 1 } });
    expect(applyToChat(CHATS.interrupting, EVENTS['edit can be made'])).toMatchObject({ next: { heldEdits: 2 } });
  });

  test('G08: refuses to be archived while messages wait, in words', () => {
    const waiting = { ...CHATS.idle, waiting: 2 };
    expect(applyToChat(waiting, EVENTS.archive)).toEqual({
      kind: 'refuse',
      code: 'chat_busy',
      message: 'messages wait: 2; delete them, or let them be answered',
    });
    expect(applyToChat(CHATS.running, EVENTS.archive)).toMatchObject({ message: expect.stringContaining('turn 3') });
  });

  test('a refusal or a defect changes nothing', () => {
    for (const chat of Object.values(CHATS)) {
      for (const event of Object.values(EVENTS)) {
        const step = applyToChat(chat, event);
        if (step.kind !== 'move') expect(step).not.toHaveProperty('next');
      }
    }
  });
});

test.each([
  ['few updates between two turns', { updates: 3 }, false],
  ['as many as it bears', { updates: 10 }, true],
  ['as many while a turn runs', { updates: 10, isAtBorder: false }, false],
  ['three times as many while a turn runs', { updates: 30, isAtBorder: false }, true],
  ['a suggestion of the server while a turn runs', { isMoveSuggested: true, isAtBorder: false }, true],
  ['many events', { events: 4000 }, true],
  ['many events while a turn runs', { events: 4000, isAtBorder: false }, false],
])('T3: with %s a chat moves to a run of its own: %o is %s', (_what, size, moves) => {
  const quiet = { events: 10, isMoveSuggested: false, updates: 0, updatesMax: 10, isAtBorder: true };
  expect(shouldMoveChat({ ...quiet, ...size })).toBe(moves);
});
