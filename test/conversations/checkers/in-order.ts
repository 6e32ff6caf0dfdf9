import type { Accepted } from '../conversation.ts';
import type { Seen } from '../seen.ts';

/** T2: messages are answered in the order in which they were accepted; one that was put in front is not passed by later ones. */
export function inOrder({ accepted, transcript }: Seen): string[] {
  const taken = accepted.filter(({ isDeleted }) => !isDeleted);
  return taken.flatMap((message, index) =>
    taken
      .slice(index + 1)
      .filter((later) => !later.isFront && turnOf(later) < turnOf(message))
      .map((later) => `${later.text} was accepted after ${message.text}, and answered before it`),
  );

  function turnOf({ clientMessageId }: Accepted): number {
    return transcript.turnOf(clientMessageId) ?? Infinity;
  }
}
