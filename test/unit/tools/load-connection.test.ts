import { expect, test } from 'vitest';
import { loadConnection } from '../../../tools/temporal/connection.ts';

/** The profile of whoever runs the tests must not join in. */
const NO_FILE = { TEMPORAL_CONFIG_FILE: '/nonexistent/temporal.toml' };
const CLOUD = {
  ...NO_FILE,
  TEMPORAL_ADDRESS: 'cloud.example:7233',
  TEMPORAL_NAMESPACE: 'chats.a1b2',
  TEMPORAL_API_KEY: 'not-a-real-key',
};

test('without any setting the local default is taken', () => {
  expect(loadConnection({ env: NO_FILE })).toMatchObject({ address: 'localhost:7233', namespace: 'default' });
});

test("a user's own server is reached with address, namespace, API key and TLS of the standard configuration", () => {
  const settings = loadConnection({ env: CLOUD });
  expect(settings).toMatchObject({ address: 'cloud.example:7233', namespace: 'chats.a1b2' });
  expect(settings.connectionOptions).toMatchObject({
    address: 'cloud.example:7233',
    apiKey: 'not-a-real-key',
    tls: true,
  });
});

test('an API key is never sent to another server than the one it was configured with', () => {
  const settings = loadConnection({ env: CLOUD, address: '127.0.0.1:7233' });
  expect(settings.connectionOptions).toEqual({ address: '127.0.0.1:7233' });
});

test('an API key without an address goes to the address that is asked for, but not to a server on this machine', () => {
  const env = { ...NO_FILE, TEMPORAL_API_KEY: 'not-a-real-key' };
  expect(loadConnection({ env, address: 'cloud.example:7233' }).connectionOptions.apiKey).toBe('not-a-real-key');
  expect(loadConnection({ env, address: 'localhost:9' }).connectionOptions.apiKey).toBeUndefined();
});

test('a configuration that can not be read is one error that says what to look at', () => {
  const env = { ...NO_FILE, TEMPORAL_PROFILE: 'absent' };
  expect(() => loadConnection({ env })).toThrow(
    expect.objectContaining({
      code: 'configuration',
      message: expect.stringMatching(/^Temporal's configuration can't be read: .*absent/) as unknown,
    }),
  );
});
