import { describe, expect, test } from 'vitest';
import { TOOLS, parseToolArguments } from '../../../activities/model/tools.ts';
import { SIGNALS } from '../../../contract/signals.ts';

describe('process_output', () => {
  test.each([
    ['{"handle":"p7"}', { verb: 'output', handle: 'p7', waitSeconds: 0 }],
    ['{"handle":"p7","from_byte":0}', { verb: 'output', handle: 'p7', waitSeconds: 0, fromByte: 0 }],
    [
      '{"handle":"p7","from_byte":"12","wait_seconds":"1.5"}',
      { verb: 'output', handle: 'p7', waitSeconds: 1.5, fromByte: 12 },
    ],
    ['{"handle":"p7","wait_seconds":600}', { verb: 'output', handle: 'p7', waitSeconds: 5 }],
  ])('takes %s', (text, request) => {
    expect(parseToolArguments('process_output', text).request).toEqual(request);
  });

  test.each([
    ['{}', /handle is missing/],
    ['{"handle":""}', /handle is not a handle/],
    ['{"handle":"../p7"}', /handle is not a handle/],
    ['{"handle":7}', /handle is not a handle/],
    ['{"handle":"p7","from_byte":-1,"wait_seconds":"soon"}', /from_byte is a whole number.*wait_seconds is a number/],
    ['{"handle":"p7","from_byte":null}', /from_byte is a whole number/],
    ['{"handle":"p7","bytes":1}', /unknown field "bytes"; known are handle, from_byte, wait_seconds/],
    ['[]', /an array, not a JSON object/],
  ])('refuses %s by name', (text, fault) => {
    expect(parseToolArguments('process_output', text).fault).toMatch(fault);
  });
});

describe('process_list', () => {
  test.each([
    ['', { verb: 'list', includeEnded: false }],
    ['{}', { verb: 'list', includeEnded: false }],
    ['{"include_ended":true,"after":"50"}', { verb: 'list', includeEnded: true, after: '50' }],
  ])('takes "%s"', (text, request) => {
    expect(parseToolArguments('process_list', text).request).toEqual(request);
  });

  test.each(['{"include_ended":"yes"}', '{"after":"x"}', '{"after":50}', 'null'])('refuses %s', (text) => {
    expect(parseToolArguments('process_list', text).fault).toBeDefined();
  });
});

describe('process_signal', () => {
  test.each([
    ['{"handle":"p7","signal":"SIGTERM"}', 'SIGTERM'],
    ['{"handle":"p7","signal":"kill"}', 'SIGKILL'],
    ['{"handle":"p7","signal":" Sigusr1 "}', 'SIGUSR1'],
  ])('takes %s', (text, signal) => {
    expect(parseToolArguments('process_signal', text).request).toEqual({ verb: 'signal', handle: 'p7', signal });
  });

  test('B08: an unknown signal is refused by name, and the known ones are told', () => {
    for (const signal of ['"SIGNONSENSE"', '"SIGSEGV"', '9', 'null', '""']) {
      const { fault } = parseToolArguments('process_signal', `{"handle":"p7","signal":${signal}}`);
      expect(fault).toBe(`signal ${signal} can't be sent; give one of ${SIGNALS.join(', ')}`);
    }
    expect(parseToolArguments('process_signal', '{}').fault).toMatch(/^handle is missing; signal is missing; give one/);
    expect(parseToolArguments('process_signal', '{"handle":"../p7","signal":"SIGTERM"}').fault).toMatch(/not a handle/);
  });
});

test('each tool that a model is told of takes arguments, and no other does', () => {
  for (const { name } of TOOLS) expect(parseToolArguments(name, '{"x":1}').fault).toMatch(/unknown field "x"/);
  expect(parseToolArguments('bash', '{}').fault).toMatch(
    /the tools are: execute, process_output, process_list, process_signal$/,
  );
});

describe('R16: the text of execute says unit, default and limit, standard input, workdir and environment', () => {
  describe('R19: the text of execute says unit, default and limit, standard input, workdir and environment', () => {
    describe('R20: the text of execute says unit, default and limit, standard input, workdir and environment', () => {
      test('R15: the text of execute says unit, default and limit, standard input, workdir and environment', () => {
        const text = JSON.stringify(TOOLS[0]);
        for (const rule of [
          /in seconds \(not milliseconds\); 120 if left out, more than 14400 \(4 h\) is lowered/,
          /Standard input is empty and there is no terminal/,
          /`cd`, variables and shell options do not persist/,
          /allow-list with a UTF-8 locale/,
          /first 16 KiB and the last 16 KiB/,
          /is not killed/,
          /at most 256 KiB/,
        ]) {
          expect(text).toMatch(rule);
        }
      });
    });
  });
});
