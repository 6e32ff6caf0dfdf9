import type { Seen } from '../seen.ts';

/** T2: each accepted message was taken by one turn, and that ended once; what was taken back never was. */
export function answeredOnce({ accepted, transcript, hasInterrupted }: Seen): string[] {
  const known = new Set(accepted.map(({ clientMessageId }) => clientMessageId));
  const users = transcript.messages.filter(({ role }) => role === 'user');
  const strangers = users.filter(({ clientMessageId }) => !known.has(clientMessageId ?? ''));
  return [
    ...strangers.map(({ text }) => `${text} was answered, and nobody was told that it is accepted`),
    ...accepted.flatMap(({ clientMessageId, text, isDeleted }) => {
      const taken = users.filter((message) => message.clientMessageId === clientMessageId);
      if (isDeleted) return taken.length === 0 ? [] : [`${text} was taken back, and answered`];
      if (taken.length !== 1) return [`${text} was taken ${taken.length} times`];
      return endsOf(taken[0]?.turn ?? 0, text);
    }),
  ];

  function endsOf(turn: number, text: string): string[] {
    const ends = transcript.ends.get(turn) ?? [];
    const inTurn = transcript.messages.filter((message) => message.turn === turn);
    const answers = inTurn.filter(({ role, calls }) => role === 'assistant' && calls === 0);
    const asked = inTurn.filter(({ role }) => role === 'user');
    return [
      ...(ends.length === 1 ? [] : [`turn ${turn} of ${text} ended ${ends.length} times: ${ends.join(', ')}`]),
      ...(asked.length === 1 ? [] : [`turn ${turn} answered ${asked.length} messages`]),
      ...(ends[0] === 'completed' && answers.length !== 1 ? [`${text} has ${answers.length} answers`] : []),
      ...(ends[0] === 'failed' ? [`turn ${turn} of ${text} failed`] : []),
      ...(ends[0] === 'interrupted' && !hasInterrupted ? [`turn ${turn} was interrupted by nobody`] : []),
    ];
  }
}
