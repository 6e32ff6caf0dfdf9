/** The page at `/`: a few files from page/, read once. What they show comes over the same routes as everybody's. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const FOLDER = join(import.meta.dirname, 'page');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Nothing but the page's own files and its gateway; no markup is ever made from a string. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // Asked for again each time, and answered with 304: a new gateway is a new page at once.
  'cache-control': 'no-cache',
};

interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly content: string;
}

/** Without a token: the files are the same for everybody and tell nothing. */
export const PAGE_PATHS = ['/', '/page/:file'];

export function servePage(server: FastifyInstance): void {
  let files: ReadonlyMap<string, PageFile> | undefined;
  const send = (name: string, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    files ??= readPageFiles();
    const file = files.get(name);
    if (file === undefined) {
      reply.callNotFound();
      return reply;
    }
    reply.headers({ ...HEADERS, etag: file.etag });
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    return reply.type(file.type).send(file.content);
  };
  server.get('/', (request, reply) => send('index.html', request, reply));
  server.get<{ Params: { file: string } }>('/page/:file', ({ params }, reply) =>
    send(params.file, reply.request, reply),
  );
}

function readPageFiles(): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const source of readdirSync(FOLDER)) {
    const isTypeScript = source.endsWith('.ts') && !source.endsWith('.d.ts');
    const name = isTypeScript ? source.replace(/\.ts$/, '.js') : source;
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const text = readFileSync(join(FOLDER, source), 'utf8');
    const content = isTypeScript ? toJavaScript(text) : text;
    files.set(name, { type, content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` });
  }
  return files;
}

/** In development, where nothing is built: as Node itself runs the other sources. */
function toJavaScript(source: string): string {
  const { emitWarning } = process;
  // It says that it may change; the page's sources are checked to hold only what can be erased.
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source).replaceAll(/(\bfrom '\.\/[\w-]+)\.ts'/g, "$1.js'");
  } finally {
    process.emitWarning = emitWarning;
  }
}
