/** What one route is: its schemas are what the server checks with and what the OpenAPI document is made from. */
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { Access } from '../access/tokens.ts';
import type { Services } from '../services.ts';

interface RouteParts<Params, Query, Body> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With `:name` for parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  readonly bodyBytesMax?: number;
}

export interface RouteRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly access: Access;
  readonly services: Services;
}

/** Answers with JSON. */
export interface JsonRoute<Params = unknown, Query = unknown, Body = unknown, Answer = unknown> extends RouteParts<
  Params,
  Query,
  Body
> {
  readonly kind: 'json';
  readonly answer: z.ZodType<Answer>;
  handle(request: RouteRequest<Params, Query, Body>): Promise<Answer>;
}

/** Answers with a stream of events, and ends it itself. */
export interface StreamRoute<Params = unknown, Query = unknown, Body = unknown> extends RouteParts<
  Params,
  Query,
  Body
> {
  readonly kind: 'stream';
  readonly streams: string;
  /** May answer 204: there is nothing to stream. */
  readonly mayBeEmpty?: boolean;
  handle(
    request: RouteRequest<Params, Query, Body> & { readonly reply: FastifyReply; readonly lastEventId?: string },
  ): Promise<void>;
}

export type Route = JsonRoute | StreamRoute;

/** Keeps the types of the schemas for the handler. */
export function jsonRoute<Params, Query, Body, Answer>(
  route: Omit<JsonRoute<Params, Query, Body, Answer>, 'kind'>,
): Route {
  return { ...route, kind: 'json' } as unknown as Route;
}

export function streamRoute<Params, Query, Body>(route: Omit<StreamRoute<Params, Query, Body>, 'kind'>): Route {
  return { ...route, kind: 'stream' } as unknown as Route;
}
