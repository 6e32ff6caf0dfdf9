/** The table of verbs: a path, the schema of its request, the function that answers. */
import type { z } from 'zod';
import { cancelRequestSchema } from '../../contract/wire/cancel.ts';
import { infoRequestSchema } from '../../contract/wire/info.ts';
import { listRequestSchema } from '../../contract/wire/list.ts';
import { outputRequestSchema } from '../../contract/wire/output.ts';
import { probeRequestSchema } from '../../contract/wire/probe.ts';
import { signalRequestSchema } from '../../contract/wire/signal.ts';
import { startRequestSchema } from '../../contract/wire/start.ts';
import { cancel } from './cancel.ts';
import { info } from './info.ts';
import { list } from './list.ts';
import { output } from './output.ts';
import { probe } from './probe.ts';
import { signal } from './signal.ts';
import { start } from './start.ts';
import type { VerbContext } from './verb-context.ts';

export interface Verb {
  readonly schema: z.ZodType<object>;
  readonly run: (context: VerbContext, request: object) => Promise<object>;
}

function verb<Request extends object>(
  schema: z.ZodType<Request>,
  run: (context: VerbContext, request: Request) => Promise<object>,
): Verb {
  // The server parses with this very schema before it calls `run`.
  return { schema, run: (context, request) => run(context, request as Request) };
}

export const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['/v1/start', verb(startRequestSchema, start)],
  ['/v1/probe', verb(probeRequestSchema, probe)],
  ['/v1/output', verb(outputRequestSchema, output)],
  ['/v1/cancel', verb(cancelRequestSchema, cancel)],
  ['/v1/signal', verb(signalRequestSchema, signal)],
  ['/v1/list', verb(listRequestSchema, list)],
  ['/v1/info', verb(infoRequestSchema, info)],
]);
