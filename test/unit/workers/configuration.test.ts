import { describe, expect, test } from 'vitest';
import { readTurnWorkerConfiguration } from '../../../workers/configuration.ts';

const STORE = { LATCHKEY_STORE: 'sqlite::memory:' };

function read(env: Record<string, string>, args: string[] = []) {
  return readTurnWorkerConfiguration({ env: { ...STORE, ...env }, args });
}

describe('a turn worker', () => {
  test('is unversioned unless it is told of a deployment and a build', () => {
    expect(read({}).version).toBeUndefined();
    expect(read({ LATCHKEY_DEPLOYMENT: '', LATCHKEY_BUILD_ID: '' }).version).toBeUndefined();
    const version = { deploymentName: 'latchkey', buildId: '1.4.0+3f2a' };
    expect(read({ LATCHKEY_DEPLOYMENT: 'latchkey', LATCHKEY_BUILD_ID: '1.4.0+3f2a' }).version).toEqual(version);
    expect(read({}, ['--deployment', 'latchkey', '--build-id', '1.4.0+3f2a']).version).toEqual(version);
  });

  test('has both or neither, and the error names the one that is missing', () => {
    expect(() => read({ LATCHKEY_DEPLOYMENT: 'latchkey' })).toThrow(/^LATCHKEY_BUILD_ID \(or --build-id\) is not set/);
    expect(() => read({ LATCHKEY_BUILD_ID: 'b1' })).toThrow(/^LATCHKEY_DEPLOYMENT \(or --deployment\) is not set/);
  });

  test.each(['a.b', 'a:b', "a'b", '__a', ' '])(
    'refuses the deployment name %j, which the server or a query would take apart',
    (name) => {
      expect(() => read({ LATCHKEY_DEPLOYMENT: name, LATCHKEY_BUILD_ID: 'b1' })).toThrow(
        /LATCHKEY_DEPLOYMENT.*letters/,
      );
    },
  );

  test('refuses a build id with a quote', () => {
    expect(() => read({ LATCHKEY_DEPLOYMENT: 'a', LATCHKEY_BUILD_ID: "b'1" })).toThrow(/LATCHKEY_BUILD_ID.*letters/);
  });
});
