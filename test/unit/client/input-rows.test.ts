import { expect, test } from 'vitest';
import { layOutInput } from '../../../client/chat/input-rows.ts';

test.each([
  ['nothing typed', [''], 0, ['> '], [0, 2]],
  ['the cursor within the line', ['abc'], 1, ['> abc'], [0, 3]],
  ['the cursor at the end', ['abc'], 3, ['> abc'], [0, 5]],
  ['a line that is too long', ['abcdefgh'], 8, ['> abcdefg', 'h'], [1, 1]],
  ['a row that is just full', ['abcdefg'], 7, ['> abcdefg'], [0, 9]],
  ['the cursor at the wrap', ['abcdefgh'], 7, ['> abcdefg', 'h'], [1, 0]],
  ['several lines', ['one', 'two'], 3, ['> one', '. two'], [1, 5]],
  ['wide characters', ['漢字漢字'], 2, ['> 漢字漢', '字'], [0, 6]],
  ['a character of two code units', ['a😀b'], 3, ['> a😀b'], [0, 5]],
  ['control characters', ['a\tb'], 3, ['> a b'], [0, 5]],
])('%s is laid out on rows of ten columns', (_name, lines, cursor, rows, [row, column]) => {
  expect(layOutInput({ lines, cursor }, 10)).toEqual({ rows, cursorRow: row, cursorColumn: column });
});
