import { isSendSignalRequest } from '../contract/calls.ts';
import type { CommittedCall, SendSignalRequest } from '../contract/calls.ts';

/** What a question about the call's end must tell of a `process_signal`: it has no command that could be asked about. */
export function sendingOf({ request }: Pick<CommittedCall, 'request'>): { readonly sending?: SendSignalRequest } {
  return isSendSignalRequest(request) ? { sending: request } : {};
}
