/** The messages that a summary is made of, as one text: a model that reads them as such asks for no calls. Pure. */
import type { ConversationCall, SaidMessage } from '../../../contract/messages.ts';
import { cutMiddle } from './cut-bytes.ts';

interface Passage {
  readonly label: string;
  readonly text: string;
  /** A tool's: the first that is shortened, since it is most of the length and least of the meaning. */
  readonly isResult: boolean;
}

/** What is left of a tool result that must give way. */
const RESULT_KEPT_BYTES = 600;

/**
 * At most `bytesMax` bytes: tool results give up their middles, the oldest first, until it fits; where that isn't
 * enough, the middle of the whole is left out.
 */
export function writeTranscript(messages: readonly SaidMessage[], bytesMax: number): string {
  const passages = messages.flatMap(passagesOf);
  let bytes = Buffer.byteLength(join(passages));
  for (const [index, passage] of passages.entries()) {
    if (bytes <= bytesMax) break;
    if (!passage.isResult) continue;
    const text = cutMiddle(passage.text, RESULT_KEPT_BYTES);
    bytes -= Buffer.byteLength(passage.text) - Buffer.byteLength(text);
    passages[index] = { ...passage, text };
  }
  return cutMiddle(join(passages), bytesMax);
}

function join(passages: readonly Passage[]): string {
  return passages.map(({ label, text }) => `<${label}>\n${text}`).join('\n\n');
}

function passagesOf(message: SaidMessage): Passage[] {
  const { text } = message;
  if (message.role === 'summary') return [{ label: 'summary of what was before', text, isResult: false }];
  if (message.role === 'user') return [{ label: 'user', text, isResult: false }];
  const said = text.trim() === '' ? [] : [{ label: 'assistant', text, isResult: false }];
  return [...said, ...message.calls.flatMap(callPassages)];
}

function callPassages(call: ConversationCall): Passage[] {
  const { toolName, toolCallId, result } = call;
  const asked = { label: `call of ${toolName}, ${toolCallId}`, text: JSON.stringify(call.arguments), isResult: false };
  if (result === undefined) return [asked];
  const label = `${result.isError ? 'error' : 'result'} of ${toolCallId}`;
  return [asked, { label, text: result.text, isResult: true }];
}
