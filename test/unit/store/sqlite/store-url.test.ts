import { expect, test } from 'vitest';
import { showStoreUrl } from '../../../../contract/store-url.ts';

test.each([
  ['postgres://user:secret@host:5432/db', 'postgres://user:***@host:5432/db'],
  ['postgresql://user:secret@host/db?sslmode=require', 'postgresql://user:***@host/db?sslmode=require'],
  ['POSTGRES://user:secret@host/db', 'POSTGRES://user:***@host/db'],
  ['postgres://user:secr/et@secret@host/db', 'postgres://user:***@host/db'],
  ['postgres://:secret@host/db', 'postgres://:***@host/db'],
  ['postgres://host/db?user=u&password=secret&host=/run', 'postgres://host/db?user=u&password=***&host=/run'],
  ['postgres://user@host/db', 'postgres://user@host/db'],
  ['postgres:///db?host=/run/a:b', 'postgres:///db?host=/run/a:b'],
  ['sqlite:/srv/a:b@c.db', 'sqlite:/srv/a:b@c.db'],
])('%s is shown without its password', (url, shown) => {
  expect(showStoreUrl(url)).toBe(shown);
});
