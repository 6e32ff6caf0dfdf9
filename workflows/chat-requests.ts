/** What is asked of a chat by its updates: filed by the handlers, attended to by the main loop in the order of arrival. */
import type {
  ArchiveAnswer,
  ArchiveRequest,
  BindAnswer,
  BindRequest,
  CancelCallAnswer,
  CancelCallRequest,
  ChatInterruptAnswer,
  ChatInterruptRequest,
  EditAnswer,
  EditRequest,
  QueueAnswer,
  QueuedRequest,
  SendAnswer,
  SendRequest,
} from '../contract/chat.ts';

interface Asked {
  send: { request: SendRequest; answer: SendAnswer };
  edit: { request: EditRequest; answer: EditAnswer };
  deleteQueued: { request: QueuedRequest; answer: QueueAnswer };
  promoteQueued: { request: QueuedRequest; answer: QueueAnswer };
  interrupt: { request: ChatInterruptRequest; answer: ChatInterruptAnswer };
  cancelCall: { request: CancelCallRequest; answer: CancelCallAnswer };
  bind: { request: BindRequest; answer: BindAnswer };
  archive: { request: ArchiveRequest; answer: ArchiveAnswer };
}

export type ChatUpdate = keyof Asked;
export type RequestOf<Update extends ChatUpdate> = Asked[Update]['request'];
export type AnswerOf<Update extends ChatUpdate> = Asked[Update]['answer'];

export interface FiledRequest<Update extends ChatUpdate> {
  readonly update: Update;
  readonly request: RequestOf<Update>;
  readonly answer: (answer: AnswerOf<Update>) => void;
  readonly refuse: (failure: Error) => void;
}

export type AnyRequest = { [Update in ChatUpdate]: FiledRequest<Update> }[ChatUpdate];

export class ChatRequests {
  /** Since this run began; the server takes 2,000 of one run at most. */
  count = 0;
  readonly #waiting: AnyRequest[] = [];
  #closedBy: Error | undefined;

  file<Update extends ChatUpdate>(update: Update, request: RequestOf<Update>): Promise<AnswerOf<Update>> {
    this.count += 1;
    return new Promise((answer, refuse) => {
      if (this.#closedBy !== undefined) refuse(this.#closedBy);
      else this.#waiting.push({ update, request, answer, refuse } as unknown as AnyRequest);
    });
  }

  next(): AnyRequest | undefined {
    return this.#waiting.shift();
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Refuses what waits and what still comes: there is no such chat. */
  close(failure: Error): void {
    this.#closedBy = failure;
    for (const { refuse } of this.#waiting.splice(0)) refuse(failure);
  }
}
