/** Reaches the pieces of a folder, and shows what they are waited for. */
import { reachStage } from '../dev/reach-stage.ts';
import type { ReachedStage } from '../dev/reach-stage.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { Screen } from '../watch/screen.ts';
import type { Leaving } from './leaving.ts';

/** Undefined when the person left before the pieces were up: nothing has begun then. */
export async function reachShown(
  folder: StageFolder,
  flags: { readonly json: boolean; readonly keep: boolean },
  leaving: Leaving,
): Promise<ReachedStage | undefined> {
  const screen = new Screen(process.stdout, process.stderr);
  const say = (line: string): void => {
    if (flags.json) return;
    if (screen.isLive) screen.block([screen.style('dim', line)]);
    // A log has no use for each piece's word, but for what takes its time or went wrong.
    else if (!/\bready\b|^[\d:]+ {2}stage /.test(line)) screen.line(line);
  };
  try {
    const stage = await reachStage({ folder, env: process.env, signal: leaving.signal, say });
    if (flags.keep) stage.use.keep();
    return stage;
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    screen.line('left before the turn began; nothing was sent');
    return undefined;
  } finally {
    screen.block([]);
  }
}
