import type { ExecutionKey, ToolCallId } from '../../contract/ids.ts';

/** What every provider that we know takes: a wish for other characters or more of them is refused by some. */
const PROVIDER_ID = /^[A-Za-z0-9_-]{1,64}$/;
const PROVIDER_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Maps stored ids to what a provider is sent: fitting its alphabet, and unique in the conversation, since a provider
 * may repeat an id in a later step (R8, R9). Depends only on what came before, so a longer conversation begins alike.
 */
export function createProviderCallIds(): (call: { key: ExecutionKey; toolCallId: ToolCallId }) => string {
  const taken = new Set<string>();
  return ({ key, toolCallId }) => {
    let id: string = toolCallId;
    if (!PROVIDER_ID.test(id) || taken.has(id)) {
      const base = `c${key.replace(/[^A-Za-z0-9]+/g, '_').slice(0, 48)}`;
      id = base;
      for (let count = 2; taken.has(id); count++) id = `${base}_${count}`;
    }
    taken.add(id);
    return id;
  };
}

/** A tool name that fits; one that the model made up and that doesn't fit has a result that says so. */
export function toProviderToolName(toolName: string): string {
  return PROVIDER_NAME.test(toolName) ? toolName : 'unknown_tool';
}
