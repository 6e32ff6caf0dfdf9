/** `stage.json`: the supervisor's word about itself and what it has started. Believed only while its process lives. */
import { z } from 'zod';
import { isRunning, processIdentitySchema } from './process-identity.ts';
import type { StageFolder } from './stage-folder.ts';
import { readJson, writeJson } from './write-json.ts';

const pieceSchema = z.object({
  name: z.string(),
  process: processIdentitySchema,
  /** False: it ran here before, and is left alone at the end. */
  isOurs: z.boolean(),
});

const placesSchema = z.object({
  temporalAddress: z.string(),
  temporalNamespace: z.string(),
  temporalUiUrl: z.string().optional(),
  agentAddress: z.string(),
  storeUrl: z.string(),
  turnQueue: z.string(),
});
/** Where the pieces are: all that a client needs to use them. */
export type StagePlaces = z.infer<typeof placesSchema>;

const recordSchema = z.object({
  v: z.literal(1),
  supervisor: processIdentitySchema,
  /** `ending` may go back to `ready` when somebody came in the meantime. */
  state: z.enum(['starting', 'ready', 'ending', 'failed']),
  startedAt: z.string(),
  /** It ends by itself when nobody uses it any more. */
  endsWhenUnused: z.boolean(),
  places: placesSchema.optional(),
  pieces: z.array(pieceSchema),
  /** Of the variables that the workers took with them, salted. */
  environmentDigest: z.string(),
  failure: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type StageRecord = z.infer<typeof recordSchema>;
export type PieceRecord = z.infer<typeof pieceSchema>;

export function writeRecord(folder: StageFolder, record: StageRecord): void {
  writeJson(folder.record, record);
}

/** Also of a supervisor that is no more. */
export function readRecord(folder: StageFolder): StageRecord | undefined {
  return readJson(folder.record, recordSchema);
}

export function findLiveRecord(folder: StageFolder): StageRecord | undefined {
  const record = readRecord(folder);
  return record !== undefined && isRunning(record.supervisor) ? record : undefined;
}
