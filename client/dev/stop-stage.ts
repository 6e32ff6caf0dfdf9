/** `latchkey dev stop`: ends the supervisor of a stage, or what one that was killed has left behind. */
import { endProcess, endRecorded, stillRunning } from './end-recorded.ts';
import type { StageFolder } from './stage-folder.ts';
import { findLiveRecord, readRecord } from './stage-record.ts';
import type { Say } from './running-piece.ts';

/** Its own pieces may need their forced shutdown, one group after the other. */
const SUPERVISOR_GRACE_MS = 40_000;

/** What was ended, for people; undefined when nothing ran. */
export async function stopStage(folder: StageFolder, say: Say): Promise<string | undefined> {
  const live = findLiveRecord(folder);
  if (live !== undefined) await endProcess(live.supervisor, SUPERVISOR_GRACE_MS);
  // The record stays, so what it names may have ended long ago.
  const left = stillRunning(readRecord(folder)?.pieces ?? []);
  await endRecorded(left, say);
  if (live !== undefined) return `ended (supervisor pid ${live.supervisor.pid})`;
  return left.length === 0 ? undefined : 'ended what a killed supervisor had left';
}
