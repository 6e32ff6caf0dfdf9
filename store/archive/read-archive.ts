/** Reads the lines of an exported chat and refuses what can't be one, by line and field. */
import { Refusal } from '../../contract/failures.ts';
import { archiveLine, ARCHIVE_VERSION, COUNTED_AS, noneCounted } from './format.ts';
import type { ArchiveLine, LineOf } from './format.ts';

/** In which order the kinds come; a call belongs to the message before it. */
const RANKS: Readonly<Record<ArchiveLine['type'], number>> = {
  'latchkey-chat': 0,
  chat: 1,
  message: 2,
  call: 2,
  note: 3,
  step: 4,
  turn: 5,
  end: 6,
};

/** All lines but the header, each checked against those before it. Throws `bad_request`; its field is `line <n>`. */
export async function* readArchive(lines: AsyncIterable<string>): AsyncGenerator<ArchiveLine, void, void> {
  const reader = new ArchiveReader();
  for await (const text of lines) {
    const line = reader.read(text);
    if (line.type !== 'latchkey-chat') yield line;
  }
  reader.end();
}

class ArchiveReader {
  #number = 0;
  #last: ArchiveLine | undefined;
  #chat: LineOf<'chat'> | undefined;
  #message: LineOf<'message'> | undefined;
  readonly #toolCallIds = new Set<string>();
  readonly #counts = noneCounted();

  read(text: string): ArchiveLine {
    this.#number += 1;
    const line = this.#parse(text);
    this.#requireOrder(line);
    switch (line.type) {
      case 'latchkey-chat':
        break;
      case 'chat':
        this.#chat = line;
        break;
      case 'message':
        this.#checkMessage(line);
        break;
      case 'call':
        this.#checkCall(line);
        break;
      case 'note':
      case 'step':
      case 'turn':
        this.#requireGrowth(line);
        break;
      case 'end':
        this.#checkEnd(line);
    }
    if (line.type in COUNTED_AS) this.#counts[COUNTED_AS[line.type as keyof typeof COUNTED_AS]] += 1;
    this.#last = line;
    return line;
  }

  end(): void {
    if (this.#last?.type === 'end') return;
    this.#number += 1;
    throw this.#refusal('type', 'the file ends before its line of type end: it was cut, or its export failed');
  }

  #parse(text: string): ArchiveLine {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw this.#refusal('the line', `it is not JSON (${(error as Error).message})`);
    }
    if (this.#number === 1) this.#requireHeader(value);
    const parsed = archiveLine.safeParse(value);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw this.#refusal(issue?.path.join('.') || 'the line', issue?.message ?? 'it is of no known form');
  }

  /** Before the form of the line: another version may have another one. */
  #requireHeader(value: unknown): void {
    const { type, version } = (value ?? {}) as { type?: unknown; version?: unknown };
    if (type !== 'latchkey-chat') throw this.#refusal('type', 'this is no file that latchkey export wrote');
    if (version !== ARCHIVE_VERSION) {
      throw this.#refusal('version', `it is ${String(version)}, and this latchkey reads ${ARCHIVE_VERSION}`);
    }
  }

  #requireOrder(line: ArchiveLine): void {
    const last = this.#last;
    if (last === undefined) return;
    const mayRepeat = line.type in COUNTED_AS;
    const isInOrder = mayRepeat ? RANKS[line.type] >= RANKS[last.type] : RANKS[line.type] > RANKS[last.type];
    const hasChat = line.type === 'chat' || this.#chat !== undefined;
    if (!isInOrder || !hasChat)
      throw this.#refusal('type', `a line of type ${line.type} can't follow one of ${last.type}`);
  }

  #checkMessage(line: LineOf<'message'>): void {
    if (line.id <= (this.#message?.id ?? 0)) throw this.#refusal('id', 'ids of messages grow');
    if (line.id > (this.#chat?.highestMessageId ?? 0))
      throw this.#refusal('id', "it is above the chat's highestMessageId");
    this.#message = line;
    this.#toolCallIds.clear();
  }

  #checkCall(line: LineOf<'call'>): void {
    const message = this.#message;
    if (message?.id !== line.messageId || message.role !== 'assistant') {
      throw this.#refusal('messageId', 'a call follows the assistant message that asked for it');
    }
    if (line.key !== `${line.messageId}-${line.toolCallId}`) {
      throw this.#refusal('key', 'it is messageId, "-", toolCallId');
    }
    if (this.#toolCallIds.has(line.toolCallId))
      throw this.#refusal('toolCallId', 'another call of this message has it');
    this.#toolCallIds.add(line.toolCallId);
    if (this.#last?.type === 'call' && line.position <= this.#last.position) {
      throw this.#refusal('position', 'positions of calls grow within a message');
    }
  }

  #requireGrowth(line: LineOf<'note' | 'step' | 'turn'>): void {
    const last = this.#last;
    if (last?.type !== line.type) return;
    const [before, now] = [placeOf(last), placeOf(line)];
    if (before[0] > now[0] || (before[0] === now[0] && before[1] >= now[1])) {
      throw this.#refusal(line.type === 'note' ? 'position' : line.type, 'it grows from line to line');
    }
  }

  #checkEnd(counts: LineOf<'end'>): void {
    for (const name of Object.values(COUNTED_AS)) {
      if (counts[name] === this.#counts[name]) continue;
      throw this.#refusal(name, `the file has ${this.#counts[name]} and should have ${counts[name]}`);
    }
  }

  #refusal(field: string, reason: string): Refusal {
    return new Refusal('bad_request', `line ${this.#number}: ${field}: ${reason}`, `line ${this.#number}`);
  }
}

function placeOf(line: LineOf<'note' | 'step' | 'turn'>): readonly [number, number] {
  if (line.type === 'note') return [line.position, 0];
  return line.type === 'turn' ? [line.turn, 0] : [line.turn, line.step];
}
