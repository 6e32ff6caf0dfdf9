/**
 * The form in which text is stored: well-formed, since a lone surrogate makes a provider refuse the request, and with
 * NUL shown as `\0`, since PostgreSQL refuses it. Repaired once on the way in, so every reader sees the same text.
 */
export function toStoredText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\\0');
}
