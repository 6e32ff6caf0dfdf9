/**
 * One guard for every string that leaves a payload (ids, failure texts, summaries, update errors).
 *
 * A lone surrogate in an activity id or a failure message can't be encoded as protobuf text and stops a whole
 * Temporal worker (shared/notes/temporal-live.md A1), so such text is repaired and capped before it is handed over.
 */

const ELLIPSIS = '…';

/** True when the text has no lone surrogate, so that it can be encoded as UTF-8. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** Repairs lone surrogates (to U+FFFD) and cuts to `charactersMax` UTF-16 units, never inside a pair. */
export function toSafeText(text: string, charactersMax: number): string {
  const repaired = text.toWellFormed();
  if (repaired.length <= charactersMax) return repaired;
  return cutAtCharacter(repaired, charactersMax - ELLIPSIS.length) + ELLIPSIS;
}

/** The longest prefix of at most `unitsMax` UTF-16 units that doesn't end inside a surrogate pair. */
export function cutAtCharacter(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  const last = text.charCodeAt(unitsMax - 1);
  const endsInsidePair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, endsInsidePair ? unitsMax - 1 : unitsMax);
}

/** The first line of a text, repaired and capped: for summaries and lists. */
export function firstLine(text: string, charactersMax: number): string {
  const trimmed = text.trimStart();
  const end = trimmed.search(/[\r\n]/);
  const line = end === -1 ? trimmed : trimmed.slice(0, end).trimEnd() + ' ' + ELLIPSIS;
  return toSafeText(line, charactersMax);
}

/** Length in UTF-8 bytes, without Node's Buffer (workflows have none). A lone surrogate counts as U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
