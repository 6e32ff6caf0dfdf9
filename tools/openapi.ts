/**
 * The agent's protocol as an OpenAPI document, made from the schemas that both sides check with:
 * `npm run openapi` writes docs/openapi.json, and a test says when it is not current.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { FAILURES } from '../contract/failures.ts';
import { cancelAnswerSchema, cancelRequestSchema } from '../contract/wire/cancel.ts';
import { errorAnswerSchema, PROTOCOL_VERSION } from '../contract/wire/envelope.ts';
import { infoAnswerSchema, infoRequestSchema } from '../contract/wire/info.ts';
import { listAnswerSchema, listRequestSchema } from '../contract/wire/list.ts';
import { outputAnswerSchema, outputRequestSchema } from '../contract/wire/output.ts';
import { probeAnswerSchema, probeRequestSchema } from '../contract/wire/probe.ts';
import { signalAnswerSchema, signalRequestSchema } from '../contract/wire/signal.ts';
import { startAnswerSchema, startRequestSchema } from '../contract/wire/start.ts';

const VERBS = {
  start: {
    summary: 'Runs a command under a key, at most once for ever, or attaches to it',
    request: startRequestSchema,
    answer: startAnswerSchema,
  },
  probe: { summary: 'What is true of a key', request: probeRequestSchema, answer: probeAnswerSchema },
  output: {
    summary: 'Bytes of an output from an offset, or its first and last ones',
    request: outputRequestSchema,
    answer: outputAnswerSchema,
  },
  cancel: {
    summary: 'Fences a key, or stops its command; returns what is then true',
    request: cancelRequestSchema,
    answer: cancelAnswerSchema,
  },
  signal: {
    summary: 'Sends a signal to a process, once per id',
    request: signalRequestSchema,
    answer: signalAnswerSchema,
  },
  list: { summary: "A chat's processes, paged", request: listRequestSchema, answer: listAnswerSchema },
  info: {
    summary: 'Whose word this is, versions, limits, readiness',
    request: infoRequestSchema,
    answer: infoAnswerSchema,
  },
} as const;

export const OPENAPI_PATH = join(import.meta.dirname, '../docs/openapi.json');

export function buildOpenApi(): object {
  const paths = Object.entries(VERBS).map(([verb, { summary, request, answer }]) => [
    `/v1/${verb}`,
    {
      post: {
        operationId: verb,
        summary,
        requestBody: { required: true, content: json(request) },
        responses: {
          200: { description: 'The answer', content: json(answer) },
          default: {
            description: 'A refusal or a conflict, with a stable code',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } },
          },
        },
      },
    },
  ]);
  const codes = Object.entries(FAILURES).map(([code, { kind, status, nextStep }]) => [
    code,
    { kind, status, nextStep },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Latchkey agent',
      version: String(PROTOCOL_VERSION),
      description:
        'HTTP/1.1 on a unix socket, or on TCP with a bearer token. Unknown fields and versions are refused on both ' +
        'sides. What the schemas can not say is in docs/protocol.md.',
    },
    paths: Object.fromEntries(paths),
    components: {
      schemas: { ErrorAnswer: toSchema(errorAnswerSchema) },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    'x-codes': Object.fromEntries(codes),
  };
}

export function renderOpenApi(): Promise<string> {
  return renderDocument(OPENAPI_PATH, buildOpenApi());
}

/** As the formatter would leave the file at `path`. */
export async function renderDocument(path: string, document: object): Promise<string> {
  const config = await resolveConfig(path);
  return format(JSON.stringify(document), { ...config, parser: 'json' });
}

function json(schema: z.ZodType) {
  return { 'application/json': { schema: toSchema(schema) } };
}

export function toSchema(schema: z.ZodType): object {
  // As it is on the wire: brands and parsed ids are strings there.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

if (import.meta.main) {
  writeFileSync(OPENAPI_PATH, await renderOpenApi());
  process.stdout.write('docs/openapi.json is written\n');
}
