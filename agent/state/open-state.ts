/**
 * Opens a state folder: lock, journal, identity, and the checks that notice a copy or a step back in time (design §4
 * "Rollback, copy, clone").
 */
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { CodedError } from '../../contract/failures.ts';
import type { AgentId, Incarnation, JournalId } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import { CallRows } from '../journal/call-rows.ts';
import { Journal } from '../journal/journal.ts';
import { computeIncarnation } from '../process/incarnation.ts';
import { Ballast } from './ballast.ts';
import { requireLocalFileSystem } from './file-system.ts';
import { lockStateFolder } from './lock.ts';
import { makeFolder } from './make-folder.ts';
import { readSentinelMark } from './sentinel.ts';
import { Witness, witnessFolder } from './witness.ts';

const WENT_BACK = 'the journal went back in time (an older copy was put in its place), so this call is not vouched for';
const WITNESS_MISSING =
  'the witness of this journal is gone (its memory-backed folder was emptied), so it may be an older copy, and this call is not vouched for';
const ADOPTED = 'the state folder was adopted as a copy, so this call is not vouched for';

export class AgentState {
  readonly folder: string;
  readonly journal: Journal;
  readonly calls: CallRows;
  readonly incarnation: Incarnation;
  readonly ballast: Ballast;
  readonly #lock: { release(): void };
  readonly #witnessFolder: string | undefined;
  #witness: Witness | undefined;
  #onWitnessFailure: (error: unknown) => void = () => undefined;

  private constructor(folder: string, environment: NodeJS.ProcessEnv) {
    makeFolder(resolve(folder, 'commands'));
    requireLocalFileSystem(folder);
    this.folder = folder;
    this.ballast = new Ballast(folder);
    this.#lock = lockStateFolder(folder);
    try {
      this.journal = new Journal(join(folder, 'journal.db'));
    } catch (error) {
      this.#lock.release();
      throw error;
    }
    this.calls = new CallRows(this.journal.database);
    this.incarnation = computeIncarnation();
    this.#witnessFolder = witnessFolder(environment);
  }

  /** Refuses (`configuration`) a folder that is a copy, is in use, or is on a network. */
  static open(folder: string, environment: NodeJS.ProcessEnv): AgentState {
    const state = new AgentState(folder, environment);
    try {
      state.#identify();
      state.#watchSequence();
      state.journal.onDiskFull(() => state.ballast.drop());
      state.ballast.lay();
      return state;
    } catch (error) {
      state.close();
      throw error;
    }
  }

  /** `latchkey agent adopt`: a copy becomes an agent of its own; what was open is lost, what ended stays known. */
  static adopt(folder: string, environment: NodeJS.ProcessEnv): { readonly agentId: AgentId; readonly lost: number } {
    const state = new AgentState(folder, environment);
    try {
      const lost = state.calls.counts().open;
      state.journal.commitNow(() => {
        state.calls.loseAllOpen(ADOPTED);
        state.#mintIdentity();
      });
      return { agentId: state.agentId, lost };
    } finally {
      state.close();
    }
  }

  /** Told of a witness that can't be written. */
  onWitnessFailure(listener: (error: unknown) => void): void {
    this.#onWitnessFailure = listener;
  }

  get agentId(): AgentId {
    return this.journal.findMeta('agent_id') as AgentId;
  }

  get journalId(): JournalId {
    return this.journal.findMeta('journal_id') as JournalId;
  }

  get target(): Target {
    return {
      agentId: this.agentId,
      journalId: this.journalId,
      incarnation: this.incarnation,
      sequence: this.journal.sequence,
    };
  }

  /** Key of the environment's HMAC in fingerprints: values can be compared, not read back from the journal. */
  get environmentKey(): string {
    return this.journal.findMeta('environment_key') as string;
  }

  /** A caller of this incarnation has seen a higher sequence: the file was replaced under us. */
  async replaceJournal(): Promise<void> {
    await this.journal.commit(() => {
      this.calls.loseAllOpen(WENT_BACK);
      this.#mintJournalId();
    });
    this.#watchSequence();
  }

  close(): void {
    this.journal.close();
    this.#witness?.close();
    this.#lock.release();
  }

  #identify(): void {
    const mark = readSentinelMark(this.folder);
    const recorded = this.journal.findMeta('sentinel');
    if (recorded === undefined) {
      this.journal.commitNow(() => this.#mintIdentity());
    } else if (recorded !== mark) {
      throw new CodedError(
        'configuration',
        `the state folder ${this.folder} is a copy of another agent's: run "latchkey agent adopt --state ${this.folder}" ` +
          'to make it an agent of its own (what was open becomes lost), or put the original back',
      );
    }
  }

  #mintIdentity(): void {
    this.journal.setMeta('agent_id', mintId('a'));
    this.#mintJournalId();
    this.journal.setMeta('environment_key', randomBytes(32).toString('hex'));
    this.journal.setMeta('sentinel', readSentinelMark(this.folder));
  }

  /** Compares with the witness, then keeps it up with each commit. */
  #watchSequence(): void {
    if (this.#witnessFolder === undefined) return;
    this.#witness?.close();
    const witness = new Witness(Witness.pathIn(this.#witnessFolder, this.journalId));
    const [incarnation = '', path = ''] = (this.journal.findMeta('witness') ?? '').split('\n');
    // Where this start looks, and where the last one wrote: the environment may have changed in between.
    const seen = [witness, ...(path === '' ? [] : [new Witness(path)])].map((place) => place.read());
    const isAhead = seen.some((sequence) => sequence !== undefined && sequence > this.journal.sequence);
    const isMissing = incarnation === this.incarnation && seen.every((sequence) => sequence === undefined);
    if (isAhead || isMissing) {
      this.journal.commitNow(() => {
        this.calls.loseAllOpen(isAhead ? WENT_BACK : WITNESS_MISSING);
        this.#mintJournalId();
      });
      this.#watchSequence();
      return;
    }
    this.#witness = witness;
    // The witness first: a death between the two lines must not look like one that was taken away.
    this.journal.onCommit((sequence) => this.#tellWitness(witness, sequence));
    const record = `${this.incarnation}\n${witness.path}`;
    if (this.journal.findMeta('witness') !== record)
      this.journal.commitNow(() => this.journal.setMeta('witness', record));
  }

  /** A witness that can't be written (its folder is full, or gone) lags behind, and makes nobody's commit fail. */
  #tellWitness(witness: Witness, sequence: number): void {
    try {
      witness.write(sequence);
    } catch (error) {
      this.#onWitnessFailure(error);
    }
  }

  #mintJournalId(): void {
    this.journal.setMeta('journal_id', mintId('j'));
    // Of the journal that was: the new one has none yet.
    this.journal.setMeta('witness', '');
  }
}

/** Lower-case letters and digits, 80 bits: readable in a queue name, never the same twice. */
function mintId(prefix: string): string {
  return `${prefix}-${BigInt(`0x${randomBytes(10).toString('hex')}`)
    .toString(36)
    .padStart(16, '0')}`;
}
