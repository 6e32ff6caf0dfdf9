/** What `useChat` sends: its chat's id, the whole conversation as it has it, and why. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../../contract/failures.ts';
import { agentIdSchema, chatIdSchema } from '../../contract/wire/envelope.ts';
import { modelSchema } from '../routes/schemas.ts';

const partSchema = z.looseObject({ type: z.string(), text: z.string().optional() });
const messageSchema = z.looseObject({
  id: z.string(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(partSchema),
});

/** Loose, since applications send fields of their own along. */
export const uiRequestSchema = z.looseObject({
  id: chatIdSchema.describe("The chat's id: `useChat({ id })`"),
  messages: z.array(messageSchema).min(1).describe('Only the last one of the user is read: the store has the others'),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: z.string().optional().describe('What is edited, or generated again'),
  agentId: agentIdSchema.optional().describe('For a chat that is made by this'),
  model: modelSchema.optional().describe('For a chat that is made by this'),
});

export type UiRequest = z.infer<typeof uiRequestSchema>;

export type UiIntent =
  | { readonly kind: 'send'; readonly clientMessageId: string; readonly text: string }
  /** The message of this client message id gets another text, or is answered once more. */
  | {
      readonly kind: 'edit';
      readonly editedId: string;
      readonly clientMessageId: string;
      readonly text: string;
    };

/** The last message of the user, with what it is meant to do. `epoch`: the chat's, one more with each edit. */
export function readIntent({ messages, trigger, messageId }: UiRequest, epoch: number): UiIntent {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined) throw new Refusal('bad_request', 'there is no message of the user', 'messages');
  if (last.parts.some(({ type }) => type === 'file')) {
    throw new Refusal('bad_request', 'files are not taken: put them into the workspace', 'messages');
  }
  const text = last.parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
  const editedId = originOf(last.id);
  if (trigger === 'regenerate-message') {
    return { kind: 'edit', editedId, clientMessageId: `${editedId}~${digestOf(`again ${epoch}`)}`, text };
  }
  if (messageId !== undefined && messageId === last.id) {
    return { kind: 'edit', editedId, clientMessageId: `${editedId}~${digestOf(`${epoch} ${text}`)}`, text };
  }
  return { kind: 'send', clientMessageId: last.id, text };
}

/** An edit is a message of its own, whose id is made from what it replaces; within one epoch it counts once. */
export function originOf(clientMessageId: string): string {
  return clientMessageId.replace(/~[0-9a-f]{12}$/, '');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
