/** Which failures of PostgreSQL pass by themselves. Its codes are five characters, SQLite's errors have none of them. */

/** Serialization failure and deadlock: the server says that nothing of the transaction is there. */
const UNDONE = new Set(['40001', '40P01']);

/** The server ends, starts or is full, or found us idle in a transaction; and what Node says of a socket or a name. */
const LOST = new Set([
  '25P03',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
]);

/** Of `pg` itself, which gives these no code. */
const LOST_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection)/;

export function isUndone(error: unknown): boolean {
  return UNDONE.has(codeOf(error));
}

export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error);
  if (LOST.has(code) || code.startsWith('08')) return true;
  return error instanceof Error && LOST_TEXT.test(error.message);
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
