/** Runs the start-up script through `start`, like any command, and marks the workspace ready at its end. */
import { exitOf } from './verbs/describe-row.ts';
import { start } from './verbs/start.ts';
import type { VerbContext } from './verbs/verb-context.ts';

const WAIT_MS = 60_000;

export async function runStartup(context: VerbContext): Promise<void> {
  const { startup, state, supervisor } = context;
  const request = startup.requestFor(state.target);
  if (request === undefined) return;
  try {
    await start(context, { ...request, waitMs: WAIT_MS });
    const row = state.calls.find(request.chatId, request.key);
    if (row === undefined) throw new Error('the start-up script has no row');
    await supervisor.find(row.id)?.ended;
    const ended = state.calls.require(row.id);
    const exit = exitOf(ended);
    startup.end(exit === undefined ? { reason: ended.reason ?? ended.state } : { exitCode: exit.code });
  } catch (error) {
    if (context.signal.aborted) return;
    // Such as a script that can't be executed, or one of another name in the same boot: told by `info`.
    startup.end({ reason: error instanceof Error ? error.message : String(error) });
  }
}
