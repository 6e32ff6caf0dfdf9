import type { Client } from '@temporalio/client';
import { CodedError } from '../../contract/failures.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';

const NAMES: readonly string[] = Object.values(SEARCH_ATTRIBUTES);
/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

/** The dev server's flags for the same attributes. */
export function searchAttributeFlags(): string[] {
  return NAMES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]);
}

/**
 * Registers our search attributes with a server that somebody else runs. Without them the first workflow task fails,
 * again and again, so a refusal is an error here and not a surprise there.
 */
export async function ensureSearchAttributes(client: Client, onProgress: (line: string) => void): Promise<void> {
  const { namespace } = client.options;
  const { operatorService } = client.connection as { operatorService?: OperatorService };
  if (operatorService === undefined) return;
  let known: Readonly<Record<string, unknown>>;
  try {
    known = (await operatorService.listSearchAttributes({ namespace })).customAttributes ?? {};
  } catch (error) {
    onProgress(
      `Temporal doesn't tell its search attributes (${String(error)}); ` +
        `${NAMES.join(', ')} must exist there, of type Keyword.`,
    );
    return;
  }
  const wrong = NAMES.filter((name) => Object.hasOwn(known, name) && known[name] !== KEYWORD);
  if (wrong.length > 0) throw refused(namespace, `${wrong.join(', ')} exist with another type than Keyword`, wrong);
  const missing = NAMES.filter((name) => !Object.hasOwn(known, name));
  if (missing.length === 0) return;
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    });
  } catch (error) {
    throw refused(
      namespace,
      `${missing.join(', ')} are missing, and adding them was refused: ${String(error)}`,
      missing,
    );
  }
  onProgress(`search attributes ${missing.join(', ')} were added to namespace "${namespace}"`);
}

interface OperatorService {
  listSearchAttributes(request: {
    namespace: string;
  }): Promise<{ customAttributes?: Readonly<Record<string, unknown>> | null }>;
  addSearchAttributes(request: { namespace: string; searchAttributes: Record<string, number> }): Promise<unknown>;
}

function refused(namespace: string, what: string, names: readonly string[]): CodedError {
  const commands = names.map((name) => `temporal operator search-attribute create --name ${name} --type Keyword`);
  return new CodedError(
    'configuration',
    `Search attributes of namespace "${namespace}": ${what}. As an operator run: ${commands.join('; ')}`,
    'TEMPORAL_NAMESPACE',
  );
}
