/**
 * A model of one attempt: the file operations of daemon, keeper and child in their order (keeper.sh), stopped after any
 * of them, with a disk that gets full at any write and anybody dead at that moment. It makes the real folder that is
 * then on disk and says what is true.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, linkSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIdentity } from '../../../agent/process/identity.ts';

/** In order. `exec` releases the child's hold of `alive`; `end` is the command's end; `leave` the keeper's. */
export const OPERATIONS = [
  'reserve',
  'launch',
  'alive',
  'hold',
  'make claim',
  'write claim',
  'make exit',
  'reserve exit',
  'fork',
  'make started',
  'write started',
  'exec',
  'end',
  'write exit',
  'leave',
] as const;

export type Operation = (typeof OPERATIONS)[number];

export interface AttemptStory {
  /** The last operation that was done. */
  readonly last: Operation;
  /** The write that found the disk full, and how many bytes still fitted; undefined: it never got full. */
  readonly full: { readonly at: Operation; readonly bytesWritten: number } | undefined;
  readonly isKeeperDead: boolean;
  /** The child before its exec, the command after it. */
  readonly isChildDead: boolean;
  /** Somebody else holds the FIFO: an inherited descriptor. */
  readonly hasStranger: boolean;
}

export const EXIT_CODE = 7;

/** A living process, ourselves, and one that is gone: our pid with a start time that it never had. */
const LIVING = readIdentity(process.pid);
const TICKS = LIVING?.startTimeTicks ?? 0;

const KEEPER_ALIVE = `keeper ${identity(TICKS)} .\n`;
const CHILD_ALIVE = `${identity(TICKS)} .\n`;
const FIFO = 'fifo';

function identity(startTimeTicks: number): string {
  return `${process.pid} ${startTimeTicks}`;
}

export class ModelledAttempt {
  readonly folder: string;
  /** What is true, whatever the files say. */
  hasExecuted = false;
  isCommandAlive = false;
  /** The claim is the keeper's, complete or not. */
  isClaimed = false;
  isStartedComplete = false;
  isExitComplete = false;
  isFailedComplete = false;
  readonly #story: AttemptStory;
  readonly #fifo: string;
  #isKeeperThere = false;
  #isChildThere = false;
  #isClaimComplete = false;
  #hold: number | undefined;

  /** `root` is an empty folder with a FIFO made by `makeModelFifo`. */
  constructor(root: string, story: AttemptStory) {
    this.#story = story;
    this.#fifo = join(root, FIFO);
    this.folder = join(root, '1.1');
    const end = OPERATIONS.indexOf(story.last);
    for (const operation of OPERATIONS.slice(0, end + 1)) if (!this.#isDoing(operation)) break;
    if (story.isKeeperDead) this.#isKeeperThere = false;
    if (story.isChildDead) this.#isChildThere = this.isCommandAlive = false;
    this.#nameTheDead();
    if (this.isHeld) this.#holdFifo();
  }

  /** Somebody can still come to the exec: the child, or the keeper that will fork it. */
  get canStillExecute(): boolean {
    return !this.hasExecuted && this.isClaimed && (this.#isKeeperThere || this.#isChildThere);
  }

  /** Who holds `alive`: the keeper from its hold on, the child until its exec. */
  get isHeld(): boolean {
    const isHeldByOurs = this.#isKeeperThere || (this.#isChildThere && !this.hasExecuted);
    return this.#hasFifo && (isHeldByOurs || this.#story.hasStranger) && this.#isPast('hold');
  }

  get #hasFifo(): boolean {
    return this.#isPast('alive');
  }

  dispose(): void {
    if (this.#hold !== undefined) closeSync(this.#hold);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #isPast(operation: Operation): boolean {
    return OPERATIONS.indexOf(this.#story.last) >= OPERATIONS.indexOf(operation);
  }

  /** Whoever has ended by now has a name in its file that nobody living has. */
  #nameTheDead(): void {
    if (this.#isClaimComplete && !this.#isKeeperThere) this.#write('claim', `keeper ${identity(TICKS + 1)} .\n`);
    if (this.isStartedComplete && !this.#isChildThere) this.#write('started', `${identity(TICKS + 1)} .\n`);
  }

  #holdFifo(): void {
    this.#hold = openSync(join(this.folder, 'alive'), constants.O_RDWR | constants.O_NONBLOCK);
  }

  /** False when the attempt ends here, by itself. */
  #isDoing(operation: Operation): boolean {
    switch (operation) {
      case 'reserve':
        mkdirSync(this.folder);
        return true;
      case 'launch':
        writeFileSync(join(this.folder, 'launch'), 'set -- true\n');
        return true;
      case 'alive':
        linkSync(this.#fifo, join(this.folder, 'alive'));
        return true;
      case 'hold':
        return (this.#isKeeperThere = true);
      case 'make claim':
        this.#write('claim', '');
        return (this.isClaimed = true);
      case 'write claim':
        return (this.#isClaimComplete = this.#isWritten(operation, 'claim', KEEPER_ALIVE)) || this.#keeperLeaves();
      case 'make exit':
        this.#write('exit', '');
        return true;
      case 'reserve exit':
        return this.#isWritten(operation, 'exit', '?') || this.#keeperLeaves();
      case 'fork':
        return (this.#isChildThere = true);
      case 'make started':
        this.#write('started', '');
        return true;
      case 'write started':
        this.isStartedComplete = this.#isWritten(operation, 'started', CHILD_ALIVE);
        return this.isStartedComplete || this.#childFails();
      case 'exec':
        return (this.hasExecuted = this.isCommandAlive = true);
      case 'end':
        this.isCommandAlive = this.#isChildThere = false;
        return true;
      case 'write exit':
        this.isExitComplete = this.#isWritten(operation, 'exit', `${EXIT_CODE} 12.34 .\n`);
        return this.isExitComplete || this.#keeperLeaves();
      case 'leave':
        return this.#keeperLeaves();
    }
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** False when the disk got full: only a part of it is there. */
  #isWritten(operation: Operation, name: string, text: string): boolean {
    const { full } = this.#story;
    if (full?.at !== operation) {
      this.#write(name, text);
      return true;
    }
    this.#write(name, text.slice(0, Math.min(full.bytesWritten, text.length - 1)));
    return false;
  }

  #keeperLeaves(): false {
    this.#isKeeperThere = false;
    return false;
  }

  /** `started` could not be written, so nothing is executed; the disk that was full may hold the reason or not. */
  #childFails(): false {
    const text = 'started .\n';
    const written = text.slice(0, this.#story.full?.bytesWritten ?? 0);
    this.#write('failed', written);
    this.isFailedComplete = written === text;
    this.#isChildThere = false;
    return this.#keeperLeaves();
  }
}

/** Making one takes a process, so the attempts of a test share it by a link of their own. */
export function makeModelFifo(root: string): void {
  if (spawnSync('mkfifo', [join(root, FIFO)]).status !== 0) throw new Error('mkfifo failed');
}
