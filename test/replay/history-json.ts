/**
 * Histories to and from the standard JSON of Temporal's tools.
 *
 * In place of the SDK's own `historyToJSON` and `runReplayHistory(…, json)`: where npm gives two of its packages a copy of
 * protobufjs each (as here), these fail with "type must be a Type". Here everything comes from the one copy that the
 * message types were made with.
 */
import { createRequire } from 'node:module';
import type { WorkflowHandle } from '@temporalio/client';

export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

interface MessageType {
  fromObject(value: object): object;
}
interface ProtoJson {
  toJson(type: MessageType, message: object): unknown;
  fromJson(type: MessageType, json: unknown, options: { ignoreUnknownFields: boolean }): History | null;
}
interface ProtoRoot {
  lookupType(name: string): MessageType;
}

const requireOfWorker = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
const requireOfProto = createRequire(requireOfWorker.resolve('@temporalio/proto'));
const { patchProtobufRoot } = requireOfWorker('@temporalio/proto/lib/patch-protobuf-root') as {
  patchProtobufRoot: (root: unknown) => ProtoRoot;
};
const protoJson = requireOfProto('protobufjs/ext/protojson') as ProtoJson;
const historyType = patchProtobufRoot(requireOfWorker('@temporalio/proto')).lookupType(
  'temporal.api.history.v1.History',
);

export function historyToJson(history: History): { events: unknown[] } {
  return protoJson.toJson(historyType, historyType.fromObject(history)) as { events: unknown[] };
}

export function historyFromJson(json: unknown): History {
  const history = protoJson.fromJson(historyType, json, { ignoreUnknownFields: true });
  if (history === null) throw new Error('this JSON is no history');
  return history;
}
