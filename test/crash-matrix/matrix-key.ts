/** One key of the matrix: its request, what its command must give, and what was done to it. */
import type { ChatId, ExecutionKey, Nonce } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import type { StartRequest } from '../../contract/wire/start.ts';
import type { KeeperPoint } from '../../agent/crash-points.ts';

export const MATRIX_CHAT = 'matrix' as ChatId;
/** Small, so that a short output already makes three segments, none of which is dropped. */
export const SEGMENT_BYTES = 4096;
const FILLER_BYTES = 9000;

/** What a keeper does when it gets to its point: see instrumented-keeper.ts. */
export type KeeperAction = 'stand' | 'keeper' | 'self' | 'both' | 'torn';

export interface KeeperPlan {
  readonly point: KeeperPoint;
  readonly action: KeeperAction;
}

export interface KeySpecification {
  readonly number: number;
  readonly target: Target;
  readonly runLog: string;
  readonly plan?: KeeperPlan | undefined;
  /** Between the first and the last line of output. */
  readonly sleepSeconds?: number | undefined;
}

/** What has become of a key, as far as it can't change any more. */
export interface SettledKey {
  readonly state: string;
  readonly code: number | undefined;
  readonly runs: number;
}

export class MatrixKey {
  readonly number: number;
  readonly key: ExecutionKey;
  readonly request: Omit<StartRequest, 'protocol'>;
  readonly plan: KeeperPlan | undefined;
  readonly code: number;
  readonly output: string;
  /** Who died, in words, and where; several when the key met more than one death. */
  who = 'nobody';
  where = '';
  /** The command's output may end early, and its shell may die of SIGPIPE. */
  isReaderKilled = false;
  /** The child was killed between `started` and exec: counts as a command killed from outside. */
  isChildKilled = false;
  /** Only the daemon (and nothing of the command) died so far: the result must not be lost. */
  isDaemonOnly = true;
  /** A cancel was sent: killed or fenced is a true end. */
  isCanceled = false;
  /** The wish to fence it is durable: it may have run before, but it can't be merely void. */
  isFencePromised = false;
  /** Evidence on disk when everybody who was to die was dead. */
  onDisk = '';
  settled: SettledKey | undefined;

  constructor(specification: KeySpecification) {
    const { number, plan, target } = specification;
    this.number = number;
    this.plan = plan;
    this.key = `${number}-call` as ExecutionKey;
    this.code = 1 + (number % 100);
    this.output = `begin ${number}\n${'x'.padStart(FILLER_BYTES)}\nend ${number}\n`;
    const sleep = specification.sleepSeconds === undefined ? '' : `sleep ${specification.sleepSeconds}; `;
    this.request = {
      ...this.addressed(target),
      command:
        `echo '${this.key}' >> '${specification.runLog}'; echo begin ${number}; printf '%${FILLER_BYTES}s\\n' x; ` +
        `${sleep}echo end ${number}; exit ${this.code}`,
      env: plan === undefined ? {} : { MATRIX: `${plan.point}:${plan.action}:${number}` },
      background: false,
      waitMs: 0,
    };
  }

  /** The fields by which every verb names this key, as it was dispatched. */
  addressed(target = this.request.target) {
    return { target, chatId: MATRIX_CHAT, key: this.key, nonce: `nonce-${this.number}` as Nonce };
  }

  died(who: string, where: string): void {
    this.who = this.who === 'nobody' ? who : `${this.who}, then ${who}`;
    this.where = this.where === '' ? where : `${this.where}, then ${where}`;
  }
}
