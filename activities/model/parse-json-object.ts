/** The arguments of a tool call as JSON text that any provider takes back: an object, well-formed (R7, R10). */
export type ParsedJsonObject =
  | { readonly json: string; readonly value: Readonly<Record<string, unknown>>; readonly fault?: never }
  | { readonly json: '{}'; readonly value?: never; readonly fault: string };

export function parseJsonObject(text: string): ParsedJsonObject {
  if (text.trim() === '') return faulty('they are empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return faulty(`they are not valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return faulty(`they are ${kindOf(value)}, not a JSON object`);
  }
  try {
    return { json: replaceLoneSurrogates(JSON.stringify(value)), value: value as Record<string, unknown> };
  } catch {
    // Parsing goes as deep as it likes; writing recurses and overflows the stack.
    return faulty('they are nested too deeply');
  }
}

function faulty(cause: string): ParsedJsonObject {
  return { json: '{}', fault: `the arguments must be a JSON object such as {"command": "ls"}, but ${cause}` };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return `a ${typeof value}`;
}

/** `JSON.stringify` escapes lone surrogates, and only them, as \ud8xx to \udfxx; pairs stay as they are. */
function replaceLoneSurrogates(json: string): string {
  return json.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (escape, surrogate: string | undefined) =>
    surrogate === undefined ? escape : '\ufffd',
  );
}
