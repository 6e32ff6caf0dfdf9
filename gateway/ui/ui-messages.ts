/** What was said so far, as the messages that `useChat` begins with. A running turn comes by its stream. */
import type { UIMessage } from 'ai';
import type { ChatFrame } from '../open-store.ts';
import { errorTextOf, outputOf } from './call-output.ts';
import { uiMessageId } from './turn-chunks.ts';
import { originOf } from './ui-request.ts';

type MessageFrame = Extract<ChatFrame, { type: 'message' }>;
type Part = UIMessage['parts'][number];

/** `frames`: of a snapshot. */
export function toUiMessages(frames: readonly ChatFrame[]): UIMessage[] {
  let running: number | undefined;
  const messages: (Omit<UIMessage, 'parts'> & { readonly parts: Part[] })[] = [];
  for (const frame of frames) {
    if (frame.type === 'status') running = frame.turn;
    if (frame.type !== 'message') continue;
    if (frame.role === 'user') {
      messages.push({ id: originOf(frame.clientMessageId), role: 'user', parts: [{ type: 'text', text: frame.text }] });
      continue;
    }
    // A summary stands for messages before the model only.
    if (frame.role === 'summary' || frame.turn === running) continue;
    const id = uiMessageId(frame.turn);
    let message = messages.find((each) => each.id === id);
    if (message === undefined) {
      message = { id, role: 'assistant', metadata: { turn: frame.turn }, parts: [] };
      messages.push(message);
    }
    message.parts.push(...partsOf(frame));
  }
  return messages;
}

function partsOf(frame: Extract<MessageFrame, { role: 'assistant' }>): Part[] {
  const text: Part[] = frame.text === '' ? [] : [{ type: 'text', text: frame.text, state: 'done' }];
  const calls = frame.calls.map((call): Part => {
    const { key: toolCallId, toolName, arguments: input } = call;
    const common = { type: `tool-${toolName}` as const, toolCallId, input, providerExecuted: true };
    if (call.result === undefined) return { ...common, state: 'input-available' };
    const errorText = errorTextOf(call);
    if (errorText !== undefined) return { ...common, state: 'output-error', errorText };
    return { ...common, state: 'output-available', output: outputOf(call) };
  });
  return [{ type: 'step-start' }, ...text, ...calls];
}
