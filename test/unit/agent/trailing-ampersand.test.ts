import { expect, test } from 'vitest';
import { stripTrailingAmpersand } from '../../../agent/commands/trailing-ampersand.ts';

const STRIPPED: [string, string][] = [
  ['sleep 30 &', 'sleep 30'],
  ['sleep 30&', 'sleep 30'],
  ['sleep 30 &\n', 'sleep 30'],
  ['a; b &', 'a; b'],
  ['a & b &', 'a & b'],
  ["echo 'it is' &", "echo 'it is'"],
  ['echo "a \\" b" &', 'echo "a \\" b"'],
  ['(cd x && make) &', '(cd x && make)'],
  ['echo a#b &', 'echo a#b'],
  ['cat <<EOF > f\na & b\nEOF\nserve &', 'cat <<EOF > f\na & b\nEOF\nserve'],
  ["cat <<-'END'\n\tx\n\tEND\nserve &", "cat <<-'END'\n\tx\n\tEND\nserve"],
  ['cat <<< word &', 'cat <<< word'],
  ['echo $((1 << 2)) &', 'echo $((1 << 2)) &'],
];

const KEPT = [
  'a && b',
  'a &&',
  'a |&',
  'a >&',
  'a <&',
  'a \\&',
  "echo 'a &",
  'echo "a &',
  'echo `a &',
  'a # b &',
  'cat <<EOF\nx &',
  'cat <<EOF &',
  '&',
  '  &  ',
  'case x in x) a ;;&',
  'a ;&',
  'echo "a" "b',
  'plain',
  '',
];

test('a lone trailing & is stripped and means background (R18)', () => {
  for (const [command, rest] of STRIPPED) {
    const isBackground = command !== rest;
    expect(stripTrailingAmpersand(command), command).toEqual({ command: rest, isBackground });
  }
});

test('an & that belongs to something else stays where it is', () => {
  for (const command of KEPT)
    expect(stripTrailingAmpersand(command), command).toEqual({ command, isBackground: false });
});
