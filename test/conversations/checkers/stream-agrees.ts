import type { Seen } from '../seen.ts';

/** S1, H04: whoever followed the stream has seen each message once, and shows what the store shows. */
export function streamAgrees({ transcript, conversation }: Seen): string[] {
  const ids = transcript.messages.map(({ id }) => id);
  const doubled = ids.filter((id, index) => ids.indexOf(id) !== index);
  const stored = conversation.flatMap((message) => (message.role === 'note' ? [] : [`${message.id} ${message.text}`]));
  const shown = transcript.messages.filter(({ id }) => transcript.shown.has(id)).map(({ id, text }) => `${id} ${text}`);
  const seqs = transcript.events.map(({ seq }) => seq);
  return [
    ...(doubled.length === 0 ? [] : [`messages ${doubled.join(', ')} were told twice`]),
    ...(seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0))
      ? []
      : ['events were told out of order']),
    ...(shown.join('\n') === stored.join('\n')
      ? []
      : [`a watcher shows ${JSON.stringify(shown)}, the store ${JSON.stringify(stored)}`]),
  ];
}
