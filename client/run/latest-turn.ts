/** The turn that `run` started last in a folder: what `--attach` and `calls` mean when no chat is named. */
import { z } from 'zod';
import { parseChatId } from '../../contract/ids.ts';
import type { ChatId } from '../../contract/ids.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { readJson, writeJson } from '../dev/write-json.ts';

const latestSchema = z.object({ chatId: z.string().transform(parseChatId), turn: z.int().min(1) });

export interface ChatTurn {
  readonly chatId: ChatId;
  readonly turn: number;
}

export function findLatestTurn(folder: StageFolder): ChatTurn | undefined {
  return readJson(folder.latest, latestSchema);
}

export function rememberTurn(folder: StageFolder, latest: ChatTurn): void {
  writeJson(folder.latest, latest);
}
