import { Agent, fetch } from 'undici';

/** No limits of its own: Node's fetch gives up after 300 s of silence, and models think longer than that. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** How long a silent provider is waited for is `streamModel`'s to say. */
export const patientFetch = ((input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) =>
  fetch(input, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
