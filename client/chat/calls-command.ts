/** `/calls`: the calls of the turn that runs, or ran last, with what Temporal says of them; `/cancel`: stops one. */
import { CodedError } from '../../contract/failures.ts';
import { parseExecutionKey } from '../../contract/execution-key.ts';
import { callsTable } from '../calls/calls-table.ts';
import { collectCalls } from '../calls/collect-calls.ts';
import { operatorName } from '../calls/operator-name.ts';
import { readPollerSilenceMs } from '../calls/poller-silence.ts';
import { cutToWidth } from '../watch/screen.ts';
import type { CommandContext } from './command-context.ts';
import { requireThere } from './open-session.ts';

const COLUMNS_WITHOUT_TERMINAL = 80;

export async function listCalls({ session, say }: CommandContext): Promise<void> {
  requireThere(session);
  const { chatId, stage } = session;
  const { calls, notes } = await collectCalls({
    store: stage.store,
    client: stage.client,
    filter: { chatId },
    endedTurnsMax: 1,
    pollerSilenceMs: readPollerSilenceMs(process.env),
  });
  // A row has one line; what is said of a stuck call is not cut.
  const columns = process.stdout.columns || COLUMNS_WITHOUT_TERMINAL;
  for (const line of callsTable({ calls, notes }).split('\n')) {
    say(line.startsWith('!') ? line : cutToWidth(line, columns - 1));
  }
}

export async function cancelCall({ session, say }: CommandContext, words: string): Promise<void> {
  requireThere(session);
  if (words === '') throw new CodedError('configuration', 'which call? /cancel KEY; /calls shows the keys', 'key');
  const key = parseExecutionKey(words);
  say(`${key}: asking its agent`);
  const { message } = await session.chats.cancelCall(session.chatId, { key, who: operatorName(undefined) });
  say(`${key}: ${message}`);
}
