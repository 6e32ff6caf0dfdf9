/** What must hold for a whole lane: nothing runs that the journal calls ended. */
import type { Lane } from './lane.ts';
import { readJournal } from './disk-evidence.ts';
import { listLaneProcesses } from './lane-processes.ts';

export async function findLeftovers(lane: Lane): Promise<string[]> {
  const { agentId } = await lane.client.info({});
  const ended = [...readJournal(lane)].filter(([, { state }]) => state !== 'open');
  const processes = listLaneProcesses(lane.root);
  return ended.flatMap(([key, { id, state }]) =>
    processes
      .filter(({ environment }) => `\0${environment}\0`.includes(`\0LATCHKEY_CALL=${agentId}/p${id}\0`))
      .map(
        ({ pid, commandLine }) => `${key} is ${state} and still runs as process ${pid}: ${commandLine.slice(0, 80)}`,
      ),
  );
}
