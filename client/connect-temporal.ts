/** Late: a client costs a second of start-up, and most of the command line needs none. */
import type { Client } from '@temporalio/client';

export async function connectTemporal(places: {
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
}): Promise<Client> {
  const { connectClient } = await import('../tools/temporal/connection.ts');
  return connectClient({ address: places.temporalAddress, namespace: places.temporalNamespace });
}
