/** The HTTP server: each route of the table behind the same checks, each failure with its code. */
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Refusal } from '../contract/failures.ts';
import { checkRequest } from './access/check-request.ts';
import { NOTHING } from './access/tokens.ts';
import type { Access, Tokens } from './access/tokens.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { toErrorReply } from './errors.ts';
import { BODY_BYTES_MAX, CONNECTIONS_MAX, REQUEST_MS_MAX } from './limits.ts';
import { PAGE_PATHS, servePage } from './page-files.ts';
import type { Route } from './routes/route.ts';
import { ROUTES } from './routes/routes.ts';
import type { Services } from './services.ts';

const PARAMETER_CHARACTERS_MAX = 700;
/** Answered to everybody. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/healthz', ...PAGE_PATHS]);

export interface ServerOptions {
  readonly services: Services;
  /** Without: only who is on this machine is answered. */
  readonly tokens?: Tokens | undefined;
  readonly report: (line: string) => void;
}

/** Doesn't listen yet. Open streams end when `services.stopping` aborts. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { services, report } = options;
  const server = fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    // A key of a call is in a path, and its tool-call id is what a provider made it.
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS_MAX },
    forceCloseConnections: true,
    // Node's own answer to a request without Host is empty; `onRequest` gives it the shape of the others.
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => void sendError(options, error, request, reply),
    clientErrorHandler: answerBrokenRequest,
  });
  // Text would be handed to the schemas as it is, and refused as no object.
  server.removeContentTypeParser('text/plain');
  server.server.maxConnections = CONNECTIONS_MAX;
  const access = new WeakMap<FastifyRequest, Access>();
  server.addHook('onRequest', async (request) => {
    const { httpVersion, headers } = request.raw;
    if (httpVersion === '1.1' && headers.host === undefined) {
      throw new Refusal('bad_request', 'a request of HTTP/1.1 needs the header Host', 'host');
    }
    if (OPEN_PATHS.has(request.routeOptions.url ?? '')) return;
    access.set(request, checkRequest(request.headers, options.tokens));
  });
  server.setErrorHandler((error, request, reply) => sendError(options, error, request, reply));
  server.setNotFoundHandler((request, reply) => {
    const message = `${request.method} ${request.url.split('?')[0]} is not served here`;
    return sendError(options, new Refusal('unknown_verb', message), request, reply);
  });
  server.get('/healthz', async () => ({ ready: true }));
  servePage(server);
  for (const route of ROUTES) {
    server.route({
      method: route.method,
      url: route.path,
      ...(route.bodyBytesMax !== undefined && { bodyLimit: route.bodyBytesMax }),
      handler: (request, reply) =>
        handle(route, { request, reply, access: access.get(request) ?? NOTHING, services, report }),
    });
  }
  return server;
}

async function handle(
  route: Route,
  given: {
    request: FastifyRequest;
    reply: FastifyReply;
    access: Access;
    services: Services;
    report: ServerOptions['report'];
  },
): Promise<unknown> {
  const { request, reply, access, services } = given;
  const asked = {
    params: check(route.params, request.params, 'path'),
    query: check(route.query, request.query, 'query'),
    body: check(route.body, request.body ?? undefined, 'body'),
    access,
    services,
  };
  if (route.kind === 'json') return route.handle(asked);
  const lastEventId = request.headers['last-event-id'];
  try {
    await route.handle({ ...asked, reply, ...(typeof lastEventId === 'string' && { lastEventId }) });
  } catch (error) {
    // Once its head is sent nobody but us would hear of it.
    if (!reply.sent) throw error;
    given.report(`${route.operationId}: ${String(error)}`);
    reply.raw.destroy();
  }
  return reply;
}

function check(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value ?? (where === 'body' ? undefined : {}));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = [where, ...(issue?.path ?? [])].join('.');
  throw new Refusal('bad_request', `${field}: ${issue?.message ?? 'invalid'}`, field);
}

function sendError(
  { report }: ServerOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, body, isDefect } = toErrorReply(error);
  // Who leaves within the body is no failure of ours, and hears no answer.
  const hasLeft = request.raw.destroyed && !request.raw.complete;
  if (isDefect && !hasLeft)
    report(`${request.method} ${request.routeOptions.url ?? '?'}: ${String((error as Error).stack ?? error)}`);
  return reply.code(status).send(body);
}
