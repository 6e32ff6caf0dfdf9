/**
 * What others wrote (models, commands, people) as it may be shown on a terminal: it must not move our cursor, nor speak
 * to the terminal. What is for machines, JSON and a command's own bytes, stays as it is.
 */
import { stripVTControlCharacters } from 'node:util';

/** The sequences that styleText writes for the styles of `screen.ts`, and no other. */
// oxlint-disable-next-line no-control-regex -- that is what they are
export const OUR_STYLES = /(\u001b\[(?:1|2|22|31|32|33|39)m)/;

/** On one line. */
export function plainLine(text: string): string {
  return clean(text, /\p{Cc}+/gu);
}

/** Line ends and tabs stay; a lone CR goes, since what follows it would overwrite its line. */
export function plainText(text: string): string {
  return clean(text.replaceAll('\r\n', '\n'), /[^\P{Cc}\n\t]+/gu);
}

/** Of a line that is styled already only our styles stay. */
export function plainStyled(line: string): string {
  return line
    .split(OUR_STYLES)
    .map((part, index) => (index % 2 === 1 ? part : plainText(part)))
    .join('');
}

/** Also of a sequence that comes in two parts the first character is one of `controls`. */
function clean(text: string, controls: RegExp): string {
  return stripVTControlCharacters(text).replace(controls, ' ');
}
