/**
 * Every history replays. A chat whose history doesn't is wedged only once its workers forget it, which the kills bring
 * about by chance; here it is asked of each run of each workflow.
 */
import { chatWorkflowId, SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { insist } from '../fault-matrix/chat.ts';
import type { Stage } from '../fault-matrix/stage.ts';
import type { History } from '../replay/history-json.ts';
import { replayAll } from '../replay/replay.ts';
import type { Conversation } from './conversation.ts';

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly history: History;
}

export interface Unreplayable {
  readonly conversation: Conversation;
  /** In words. */
  readonly texts: readonly string[];
}

export class Replays {
  readonly #stage: Stage;
  readonly #waiting: { readonly conversation: Conversation; readonly runs: readonly Run[] }[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async add(conversation: Conversation): Promise<void> {
    this.#waiting.push({ conversation, runs: await fetchRuns(conversation) });
  }

  /** All that wait are replayed together, since to begin costs more than a replay. */
  async replay(): Promise<Unreplayable[]> {
    const taken = this.#waiting.splice(0);
    const ends = await replayAll(
      this.#stage.workflowBundle,
      taken.flatMap(({ runs }) => runs),
    );
    return taken.flatMap(({ conversation, runs }) => {
      const texts = runs.flatMap(({ workflowId, runId }) => {
        const error = ends.shift();
        return error === undefined ? [] : [`${workflowId} (run ${runId}): ${error}`];
      });
      return texts.length === 0 ? [] : [{ conversation, texts }];
    });
  }
}

/** Of the chat, its turns, settles and reads, as far as the server's index knows of them. */
async function fetchRuns({ stage, chatId }: Conversation): Promise<Run[]> {
  const { workflow } = stage.client;
  const query = `${SEARCH_ATTRIBUTES.chatId} = '${chatId}'`;
  return insist(`the histories of ${chatId} are read`, async () => {
    const runs: Run[] = [];
    for await (const { workflowId, runId } of workflow.list({ query })) {
      runs.push({ workflowId, runId, history: await workflow.getHandle(workflowId, runId).fetchHistory() });
    }
    if (runs.some(({ workflowId }) => workflowId === chatWorkflowId(chatId))) return runs;
    throw new Error(`the server's index has no workflow of chat ${chatId}`);
  });
}
