import { CodedError } from '../../contract/failures.ts';

/** gRPC status codes, from its specification. */
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;

/** What a person reads when no connection came about. */
export function connectionError(address: string, error: unknown, cause = causeOf(error)): CodedError {
  const status = statusOf(error);
  if (status === UNAUTHENTICATED || status === PERMISSION_DENIED) {
    return new CodedError(
      'configuration',
      `The Temporal server at ${address} refuses us: ${cause}. Check TEMPORAL_API_KEY and TEMPORAL_TLS_*.`,
      'TEMPORAL_API_KEY',
    );
  }
  return new CodedError(
    'temporal_unreachable',
    `No Temporal server answers at ${address} (${cause}). ` +
      'Start one there, or set TEMPORAL_ADDRESS to one that runs; a server with TLS needs TEMPORAL_TLS or TEMPORAL_API_KEY.',
    'TEMPORAL_ADDRESS',
  );
}

/** What to say when the server answered but not for this namespace; undefined when that proves nothing. */
export function namespaceError(failed: { address: string; namespace: string; error: unknown }): CodedError | undefined {
  const status = statusOf(failed.error);
  if (status === NOT_FOUND) {
    return new CodedError(
      'configuration',
      `The Temporal server at ${failed.address} has no namespace "${failed.namespace}". ` +
        'Set TEMPORAL_NAMESPACE to one that it has, or create it: temporal operator namespace create.',
      'TEMPORAL_NAMESPACE',
    );
  }
  // A key may be good for workflows and not for this question; the time-skipping server may not know it.
  // A web server or proxy answers it with a status of HTTP, which gRPC calls UNIMPLEMENTED as well.
  const isAnsweredByGrpc = !/HTTP status/.test(causeOf(failed.error));
  if (status === PERMISSION_DENIED || (status === UNIMPLEMENTED && isAnsweredByGrpc)) return undefined;
  return connectionError(failed.address, failed.error);
}

function statusOf(error: unknown): number | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
}

function causeOf(error: unknown): string {
  let text = String(error);
  for (let at = error; at instanceof Error; at = at.cause) text = at.message;
  return text.split('\n')[0] ?? text;
}
