import { afterEach, describe, expect, test, vi } from 'vitest';
import { ChatScreen } from '../../../client/chat/chat-screen.ts';
import { completeCommand, parseCommand, toMessage } from '../../../client/chat/chat-commands.ts';

/** Just enough of a terminal: rows of text, and the moves that the screen makes. */
class Terminal {
  readonly columns = 20;
  readonly rows = 8;
  lines = [''];
  #row = 0;
  #column = 0;

  write(text: string): void {
    // oxlint-disable-next-line no-control-regex -- the moves of a terminal
    for (const [token, count, move] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[^]/g)) {
      if (token === '\r') this.#column = 0;
      else if (token === '\n') this.#to(this.#row + 1, 0);
      else if (move === 'A') this.#row -= Number(count);
      else if (move === 'C') this.#column += Number(count);
      else if (move === 'J')
        this.lines = [...this.lines.slice(0, this.#row), (this.lines[this.#row] ?? '').slice(0, this.#column)];
      else if (move === undefined) this.#put(token);
    }
  }

  #put(character: string): void {
    if (this.#column >= this.columns) this.#to(this.#row + 1, 0);
    const line = (this.lines[this.#row] ?? '').padEnd(this.#column);
    this.lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column += 1;
  }

  #to(row: number, column: number): void {
    this.#row = row;
    this.#column = column;
    while (this.lines.length <= row) this.lines.push('');
  }
}

afterEach(() => vi.useRealTimers());

function open(): { terminal: Terminal; screen: ChatScreen; drawn: () => string[] } {
  vi.useFakeTimers();
  const terminal = new Terminal();
  const screen = new ChatScreen(terminal);
  const drawn = (): string[] => {
    vi.advanceTimersByTime(100);
    return terminal.lines;
  };
  return { terminal, screen, drawn };
}

describe('the screen of a chat', () => {
  test('what is typed stays below what streams, and is not torn by it', () => {
    const { screen, drawn } = open();
    screen.typed({ lines: ['my mess'], cursor: 7 });
    screen.text('The model ');
    expect(drawn()).toEqual(['The model ', '> my mess']);
    screen.text('speaks on and on.');
    screen.block(['… $ sleep 9']);
    expect(drawn()).toEqual(['The model speaks on', ' and on.', '… $ sleep 9', '> my mess']);
    screen.text('\nNext');
    screen.typed({ lines: ['my message'], cursor: 2 });
    expect(drawn()).toEqual(['The model speaks on ', 'and on.', 'Next', '… $ sleep 9', '> my message']);
    screen.block([]);
    screen.line('done');
    expect(drawn()).toEqual(['The model speaks on ', 'and on.', 'Next', 'done', '> my message']);
    screen.close();
    expect(drawn()).toEqual(['The model speaks on ', 'and on.', 'Next', 'done', '']);
  });

  test('a line that is longer than the terminal is high shows its end, and is whole when it is finished', () => {
    const { screen, drawn } = open();
    const text = 'x'.repeat(190) + 'end';
    screen.text(text);
    expect(drawn()).toHaveLength(7);
    expect(drawn().at(-2)).toMatch(/end$/);
    screen.text('\n');
    expect(drawn().slice(0, -1).join('')).toBe(text);
  });

  test('control characters of the model move no cursor', () => {
    const { screen, drawn } = open();
    screen.text('a\u001b[2Ab\n');
    expect(drawn()).toEqual(['ab', '> ']);
    screen.text('a whole line\rover\r\nnext\n');
    screen.line('said\u001b[2A\rover');
    expect(drawn()).toEqual(['ab', 'a whole line over', 'next', 'said over', '> ']);
  });
});

describe('the commands of a chat', () => {
  test('are known by name, with their words as they stand', () => {
    expect(parseCommand('/edit 3 some  text\nmore')).toMatchObject({
      command: { name: 'edit' },
      words: '3 some  text\nmore',
    });
    expect(parseCommand('/queue')).toMatchObject({ command: { name: 'queue' }, words: '' });
  });

  test('are refused by name when they are unknown, with the list of those that are', () => {
    expect(() => parseCommand('/etc/hosts is odd')).toThrow(/no command \/etc\/hosts\. There are: \/edit .*\/quit/);
  });

  test('are no messages, and a message may begin with two slashes', () => {
    expect(parseCommand('what is /edit?')).toBeUndefined();
    expect(parseCommand('//etc/hosts is odd')).toBeUndefined();
    expect(toMessage('//etc/hosts is odd')).toBe('/etc/hosts is odd');
  });

  test('are completed', () => {
    expect(completeCommand('/a')).toEqual(['/agent ', '/archive ']);
    expect(completeCommand('a')).toEqual([]);
  });
});
