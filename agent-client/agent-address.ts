import { CodedError } from '../contract/failures.ts';

export type AgentAddress = { readonly origin: string; readonly socketPath?: string };

/** `unix:/path/to/socket`, or `http://host:port`. Throws `configuration` for anything else. */
export function parseAgentAddress(text: string): AgentAddress {
  if (text.startsWith('unix:')) {
    const socketPath = text.slice('unix:'.length);
    if (!socketPath.startsWith('/')) throw badAddress(text);
    // The host is never looked up: the socket decides. It only fills the Host header.
    return { origin: 'http://agent', socketPath };
  }
  if (!URL.canParse(text)) throw badAddress(text);
  const url = new URL(text);
  const isPlain = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || !isPlain) throw badAddress(text);
  return { origin: url.origin };
}

function badAddress(text: string): CodedError {
  return new CodedError(
    'configuration',
    `the agent's address must be unix:/absolute/path or http://host:port, not ${JSON.stringify(text)}`,
    'address',
  );
}
