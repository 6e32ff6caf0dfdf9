/**
 * What running calls say of themselves: phase, bytes, last line, from the heartbeats that Temporal holds. Not stored and
 * not numbered: a tail is worth something only now. One question a chat and round, however many watch it.
 */
import type { Client } from '@temporalio/client';
import { readPendingActivities } from '../../client/watch/pending-activities.ts';
import type { PendingActivity } from '../../client/watch/pending-activities.ts';
import type { ChatId } from '../../contract/ids.ts';
import { turnWorkflowId } from '../../contract/names.ts';

const ROUND_MS = 500;
const ANSWER_MS_MAX = 2_000;

export interface Tail {
  readonly type: 'tail';
  readonly key: string;
  readonly state: PendingActivity['state'];
  readonly attempt: number;
  readonly phase: 'dispatching' | 'running' | 'unreachable';
  readonly handle?: string;
  readonly startedAt?: string;
  /** Since `startedAt`, by the gateway's clock. */
  readonly ageMs?: number;
  readonly bytes?: number;
  readonly lastLine?: string;
  readonly unreachableSince?: string;
}

type Listener = (tail: Tail) => void;

export type TailSource = (chatId: ChatId, turn: number) => Promise<readonly Tail[]>;

/** Fails when Temporal is silent; the next round asks again. */
export function readTails(client: Client): TailSource {
  return async (chatId, turn) => {
    const handle = client.workflow.getHandle(turnWorkflowId(chatId, turn));
    const described = await client.connection.withDeadline(Date.now() + ANSWER_MS_MAX, () => handle.describe());
    return readPendingActivities(described).flatMap((activity) => toTail(activity) ?? []);
  };
}

function toTail({ type, state, attempt, heartbeat, isOfEarlierAttempt }: PendingActivity): Tail | undefined {
  if (type !== 'execute' || heartbeat === undefined || isOfEarlierAttempt) return undefined;
  const { key, phase, handle, started, bytes, lastLine, unreachableSince } = heartbeat;
  return {
    type: 'tail',
    key,
    state,
    attempt,
    phase,
    ...(handle !== undefined && { handle }),
    ...(started !== undefined && { startedAt: started, ageMs: Math.max(0, Date.now() - Date.parse(started)) }),
    ...(bytes !== undefined && { bytes }),
    ...(lastLine !== undefined && { lastLine }),
    ...(unreachableSince !== undefined && { unreachableSince }),
  };
}

export class LiveTails {
  readonly #read: TailSource;
  readonly #watched = new Map<string, Round>();

  constructor(read: TailSource) {
    this.#read = read;
  }

  /** Once, now; none where Temporal doesn't answer. */
  async read(chatId: ChatId, turn: number): Promise<readonly Tail[]> {
    return this.#read(chatId, turn).catch(() => []);
  }

  /** Tells the tails of a turn's calls, each when it is new or has changed, until it is disposed of. */
  watch(chatId: ChatId, turn: number, listener: Listener): Disposable {
    const name = turnWorkflowId(chatId, turn);
    let round = this.#watched.get(name);
    if (round === undefined) {
      round = new Round(() => this.#read(chatId, turn));
      this.#watched.set(name, round);
    }
    const mine = round;
    mine.join(listener);
    return {
      [Symbol.dispose]: () => {
        if (mine.leave(listener) === 0 && this.#watched.get(name) === mine) this.#watched.delete(name);
      },
    };
  }
}

/** Asks for one turn while somebody listens, and tells each listener what it doesn't know yet. */
class Round {
  readonly #read: () => Promise<readonly Tail[]>;
  readonly #listeners = new Map<Listener, Map<string, string>>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(read: () => Promise<readonly Tail[]>) {
    this.#read = read;
  }

  join(listener: Listener): void {
    this.#listeners.set(listener, new Map());
    if (this.#listeners.size === 1) void this.#ask();
  }

  leave(listener: Listener): number {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) {
      this.#isOver = true;
      clearTimeout(this.#timer);
    }
    return this.#listeners.size;
  }

  async #ask(): Promise<void> {
    // Silence of Temporal changes nothing about what is stored, which is told all the same.
    const tails = await this.#read().catch(() => []);
    if (this.#isOver) return;
    for (const [listener, told] of this.#listeners) {
      for (const tail of tails) {
        const { ageMs: _, ...lasting } = tail;
        const text = JSON.stringify(lasting);
        if (told.get(tail.key) === text) continue;
        told.set(tail.key, text);
        listener(tail);
      }
    }
    this.#timer = setTimeout(() => void this.#ask(), ROUND_MS);
  }
}
