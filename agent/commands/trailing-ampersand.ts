/**
 * A command that ends in a lone `&` means "in the background": the `&` is stripped and the call is started as a
 * background one, so that it has a handle and its exit is known (R18).
 *
 * Lone: not `&&`, `|&`, `>&`, `<&`, `;&`, not escaped, not within quotes, a comment or a heredoc. Where this reader of
 * shell text isn't sure, nothing is stripped: bash then does what it does with an `&`.
 */
export function stripTrailingAmpersand(command: string): { readonly command: string; readonly isBackground: boolean } {
  const trimmed = command.trimEnd();
  if (!trimmed.endsWith('&') || /[&|<>;\\]&$/.test(trimmed)) {
    return { command, isBackground: false };
  }
  const rest = trimmed.slice(0, -1);
  if (rest.trim() === '' || endsInSpecialText(rest)) return { command, isBackground: false };
  return { command: rest.trimEnd(), isBackground: true };
}

/** Whether the end of the text is inside quotes, a comment, a heredoc or a bracketed group. */
function endsInSpecialText(text: string): boolean {
  const heredocs: { readonly end: string; readonly stripsTabs: boolean }[] = [];
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '\\') {
      index += 1;
      if (index >= text.length) return true;
    } else if (character === "'") {
      const end = closingQuote(text, index, "'");
      if (end === undefined) return true;
      index = end;
    } else if (character === '"' || character === '`') {
      const end = closingQuote(text, index, character);
      if (end === undefined) return true;
      index = end;
    } else if (character === '#' && (index === 0 || /[\s;&|()]/.test(text[index - 1] ?? ''))) {
      const end = text.indexOf('\n', index);
      if (end === -1) return true;
      index = end - 1;
    } else if (character === '<' && text.startsWith('<<', index) && text[index + 2] !== '<') {
      const match = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|([^\s;&|<>()'"]+))/.exec(text.slice(index));
      if (match === null) return true;
      heredocs.push({
        end: match[2] ?? match[3] ?? (match[4] ?? '').replaceAll('\\', ''),
        stripsTabs: match[1] === '-',
      });
      index += match[0].length - 1;
    } else if (character === '<' && text.startsWith('<<<', index)) {
      index += 2;
    } else if (character === '\n' && heredocs.length > 0) {
      const after = skipHeredocs(text, index + 1, heredocs.splice(0));
      if (after === undefined) return true;
      index = after - 1;
    } else if (character === '(' || character === '{') {
      depth += 1;
    } else if (character === ')' || character === '}') {
      depth -= 1;
    }
  }
  return heredocs.length > 0 || depth > 0;
}

/** Index of the closing quote, or undefined. In `"` and backticks a backslash escapes; in `'` it doesn't. */
function closingQuote(text: string, start: number, quote: string): number | undefined {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\' && quote !== "'") index += 1;
    else if (text[index] === quote) return index;
  }
  return undefined;
}

/** Index after the last closing line of the open heredocs, or undefined when one has none. */
function skipHeredocs(
  text: string,
  start: number,
  heredocs: readonly { readonly end: string; readonly stripsTabs: boolean }[],
): number | undefined {
  let index = start;
  for (const { end, stripsTabs } of heredocs) {
    for (;;) {
      if (index >= text.length) return undefined;
      const lineEnd = text.indexOf('\n', index);
      const line = text.slice(index, lineEnd === -1 ? text.length : lineEnd);
      index = lineEnd === -1 ? text.length : lineEnd + 1;
      if ((stripsTabs ? line.replace(/^\t+/, '') : line) === end) break;
    }
  }
  return index;
}
