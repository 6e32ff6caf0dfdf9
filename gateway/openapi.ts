/**
 * What the gateway serves as an OpenAPI document, made from the table of routes: `npm run openapi` writes
 * docs/gateway-openapi.json, and a test says when it is not current.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { toErrorReply } from './errors.ts';
import { CodedError, FAILURES } from '../contract/failures.ts';
import type { FailureCode } from '../contract/failures.ts';
import type { Route } from './routes/route.ts';
import { ROUTES } from './routes/routes.ts';
import { errorAnswerSchema } from './routes/schemas.ts';
import { renderDocument, toSchema } from '../tools/openapi.ts';

export const GATEWAY_OPENAPI_PATH = join(import.meta.dirname, '../docs/gateway-openapi.json');
const VERSION = '1';

export function buildGatewayOpenApi(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ROUTES) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const codes = Object.keys(FAILURES).map((code) => {
    const { status, body } = toErrorReply(new CodedError(code as FailureCode, ''));
    return [code, { status, nextStep: body.error.nextStep }];
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Latchkey gateway',
      version: VERSION,
      description: 'HTTP for front ends. What the schemas can not say is in docs/gateway.md.',
    },
    security: [{ token: [] }, {}],
    paths,
    components: {
      schemas: { ErrorAnswer: toSchema(errorAnswerSchema) },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    'x-codes': Object.fromEntries(codes),
  };
}

export function renderGatewayOpenApi(): Promise<string> {
  return renderDocument(GATEWAY_OPENAPI_PATH, buildGatewayOpenApi());
}

function operationOf(route: Route): object {
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: { 'application/json': { schema: toSchema(route.body) } },
      },
    }),
    responses: {
      200:
        route.kind === 'json'
          ? { description: 'The answer', content: { 'application/json': { schema: toSchema(route.answer) } } }
          : { description: route.streams, content: { 'text/event-stream': { schema: { type: 'string' } } } },
      ...(route.kind === 'stream' &&
        route.mayBeEmpty === true && { 204: { description: 'There is nothing to stream' } }),
      default: {
        description: 'A refusal or a failure, with a stable code',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } },
      },
    },
  };
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): object[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toSchema(schema) as {
    properties?: Record<string, object>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

if (import.meta.main) {
  writeFileSync(GATEWAY_OPENAPI_PATH, await renderGatewayOpenApi());
  process.stdout.write('docs/gateway-openapi.json is written\n');
}
