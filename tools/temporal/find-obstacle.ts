import { connect } from 'node:net';

/** What the SDK takes where an address names none. */
const TEMPORAL_PORT = 7233;

/**
 * What keeps a plain TCP connection from `host:port`: "connect ECONNREFUSED …"; undefined when nothing does. Only an
 * explanation: the gRPC channel reports no more than a missed deadline, and may reach a server that we can't (a proxy).
 */
export async function findObstacle(address: string, timeoutMs: number): Promise<string | undefined> {
  const match = /^(?:\[(.+)\]|([^:/]+))(?::(\d{1,5}))?$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? TEMPORAL_PORT);
  if (host === undefined || port > 65_535) return `"${address}" is not of the form host:port`;
  const socket = connect({ host, port, timeout: timeoutMs });
  const obstacle = await new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined));
    socket.once('error', (error) => resolve(causeOf(error)));
    socket.once('timeout', () => resolve('no answer to the TCP connection'));
  });
  socket.destroy();
  return obstacle;
}

/** Where a name has several addresses, the error of each is inside an AggregateError without a message of its own. */
function causeOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? first.message : error.message;
}
