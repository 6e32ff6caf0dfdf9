/** What the model does about one message: some steps with commands that leave their marks in the run log, then a text. */
import type { SeededRandom } from '../crash-matrix/seeded-random.ts';
import type { FakeCall, FakeReply } from '../fakes/fake-provider.ts';

const STEPS_MAX = 2;
const CALLS_MAX = 3;
const LONG_SECONDS = { low: 1, high: 3 };
const SHORT_MS_MAX = 300;
const PIECE_MS_MAX = 40;

/** The same few tool-call ids in every step and turn, as some providers have it (R8). */
export function planReplies(text: string, runLog: string, random: SeededRandom): FakeReply[] {
  const steps = random.chance(0.3) ? 0 : random.between(1, STEPS_MAX);
  const replies = Array.from({ length: steps }, (_step, step): FakeReply => {
    const calls = Array.from({ length: random.between(1, CALLS_MAX) }, (_call, index) =>
      planCall(`${text}.${step}.${index}`, index, runLog, random),
    );
    return {
      text: random.chance(0.5) ? `Step ${step + 1} for ${text}.` : '',
      calls,
      delayMs: random.between(0, PIECE_MS_MAX),
    };
  });
  return [...replies, { text: answerTo(text), delayMs: random.between(0, PIECE_MS_MAX) }];
}

export function answerTo(text: string): string {
  return `This is the answer to ${text}, and it is all that there is to say.`;
}

function planCall(label: string, index: number, runLog: string, random: SeededRandom): FakeCall {
  const isBackground = random.chance(0.1);
  const seconds = random.chance(0.25)
    ? random.between(LONG_SECONDS.low, LONG_SECONDS.high)
    : random.between(0, SHORT_MS_MAX) / 1000;
  const code = random.chance(0.2) ? random.between(1, 9) : 0;
  const command = `L=${label}; echo "begin $L" >> '${runLog}'; echo "out $L"; sleep ${seconds}; echo "end $L" >> '${runLog}'; exit ${code}`;
  return { id: `call_${index}`, name: 'execute', arguments: { command, ...(isBackground && { background: true }) } };
}

/** Which planned call a stored one is. */
export function labelOf(call: { readonly arguments: Readonly<Record<string, unknown>> }): string {
  return /^L=([^;]+);/.exec(String(call.arguments['command']))?.[1] ?? 'no label';
}
