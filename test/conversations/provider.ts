/** The model of all conversations: answers by the user's last message, and keeps what it was sent last. */
import { OPENAI_DIALECT } from '../fakes/fake-openai.ts';
import { serveDialect } from '../fakes/fake-provider.ts';
import type { FakeReply } from '../fakes/fake-provider.ts';

export interface WireMessage {
  readonly role: string;
  readonly content?: string | null | readonly { readonly text?: string }[];
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
}

export class ConversationProvider {
  readonly baseUrl: string;
  /** By model, which is the conversation's name. */
  readonly lastPrompts: Map<string, readonly WireMessage[]>;
  readonly refusals: Map<string, string[]>;
  readonly #plans: Map<string, readonly FakeReply[]>;
  readonly #close: () => Promise<void>;

  private constructor(
    server: { readonly baseUrl: string; close(): Promise<void> },
    state: Pick<ConversationProvider, 'lastPrompts' | 'refusals'> & { plans: Map<string, readonly FakeReply[]> },
  ) {
    this.baseUrl = server.baseUrl;
    this.lastPrompts = state.lastPrompts;
    this.refusals = state.refusals;
    this.#plans = state.plans;
    this.#close = () => server.close();
  }

  static async open(): Promise<ConversationProvider> {
    const plans = new Map<string, readonly FakeReply[]>();
    const lastPrompts = new Map<string, readonly WireMessage[]>();
    const refusals = new Map<string, string[]>();
    const refuse = (model: string, reason: string): void => {
      refusals.set(model, [...(refusals.get(model) ?? []), reason]);
    };
    const server = await serveDialect(OPENAI_DIALECT, {
      onRefusal: (reason, body) => refuse(String(body['model']), reason),
      answer: (body) => {
        const messages = body['messages'] as readonly WireMessage[];
        lastPrompts.set(String(body['model']), messages);
        const asked = messages.findLastIndex((message) => message.role === 'user' && plans.has(textOf(message)));
        const step = messages.slice(asked + 1).filter(({ role }) => role === 'assistant').length;
        const reply = asked === -1 ? undefined : plans.get(textOf(messages[asked]))?.[step];
        if (reply !== undefined) return reply;
        refuse(
          String(body['model']),
          `it was asked for step ${step + 1} of ${textOf(messages[asked])}, which it never asked for`,
        );
        return { text: 'nothing' };
      },
    });
    return new ConversationProvider(server, { lastPrompts, refusals, plans });
  }

  /** What it answers after a message of exactly this text, step by step. */
  plan(text: string, steps: readonly FakeReply[]): void {
    this.#plans.set(text, steps);
  }

  /** A conversation that is over takes no memory. */
  forget(model: string, texts: readonly string[]): void {
    this.lastPrompts.delete(model);
    this.refusals.delete(model);
    for (const text of texts) this.#plans.delete(text);
  }

  close(): Promise<void> {
    return this.#close();
  }
}

export function textOf(message: WireMessage | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}
