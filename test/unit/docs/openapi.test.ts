import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERBS } from '../../../agent/verbs/verbs.ts';
import { GATEWAY_OPENAPI_PATH, renderGatewayOpenApi } from '../../../gateway/openapi.ts';
import { buildOpenApi, OPENAPI_PATH, renderOpenApi } from '../../../tools/openapi.ts';

test('docs/openapi.json is what the schemas say now (npm run openapi writes it)', async () => {
  expect(readFileSync(OPENAPI_PATH, 'utf8')).toBe(await renderOpenApi());
});

test('the OpenAPI document has every verb of the agent, and no other', () => {
  const { paths } = buildOpenApi() as { paths: object };
  expect(Object.keys(paths).toSorted()).toEqual([...VERBS.keys()].toSorted());
});

test('docs/gateway-openapi.json is what the routes say now (npm run openapi writes it)', async () => {
  expect(readFileSync(GATEWAY_OPENAPI_PATH, 'utf8')).toBe(await renderGatewayOpenApi());
});
