/** `latchkey dev stop`: ends the supervisor of a stage, or what one that was killed has left behind. */
import { endProcess, endRecorded } from './end-recorded.ts';
import type { StageFolder } from './stage-folder.ts';
import { findLiveRecord, readRecord } from './stage-record.ts';
import type { Say } from './running-piece.ts';

/** Its own pieces may need their forced shutdown, one group after the other. */
const SUPERVISOR_GRACE_MS = 40_000;

/** What was ended, for people; undefined when nothing ran. */
export async function stopStage(folder: StageFolder, say: Say): Promise<string | undefined> {
  const live = findLiveRecord(folder);
  if (live !== undefined) await endProcess(live.supervisor, SUPERVISOR_GRACE_MS);
  const left = readRecord(folder)?.pieces ?? [];
  const before = left.length;
  await endRecorded(left, say);
  if (live !== undefined) return `ended (supervisor pid ${live.supervisor.pid})`;
  return before === 0 ? undefined : 'ended what a killed supervisor had left';
}
