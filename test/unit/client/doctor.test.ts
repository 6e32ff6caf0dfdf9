import { describe, expect, test } from 'vitest';
import { checkModel } from '../../../client/doctor/check-model.ts';
import { checkNode, checkTools } from '../../../client/doctor/check-machine.ts';

describe('the doctor', () => {
  test.each([
    ['20.19.0', 'missing'],
    ['24.14.1', 'missing'],
    ['24.15.0', 'ok'],
    ['25.0.0', 'ok'],
  ])('finds Node %s %s', (version, verdict) => {
    expect(checkNode(version).verdict).toBe(verdict);
  });

  test('names the tools that are not on PATH, and what to install', () => {
    const [tools] = checkTools('/nowhere');
    expect(tools).toMatchObject({ verdict: 'missing', detail: expect.stringContaining('setsid') as string });
    expect(tools?.nextStep).toContain('util-linux');
  });

  test.each([
    [{}, 'note', /no model is configured/],
    [{ OPENAI_API_KEY: 'k' }, 'note', /a key for openai is set/],
    [{ LATCHKEY_MODEL: 'anthropic/x', ANTHROPIC_API_KEY: 'k' }, 'ok', /anthropic\/x/],
    [{ LATCHKEY_MODEL: 'anthropic/x' }, 'missing', /needs ANTHROPIC_API_KEY/],
    [{ LATCHKEY_MODEL: 'gpt' }, 'missing', /LATCHKEY_MODEL is "gpt"/],
    [{ LATCHKEY_MODEL: 'scripted:/nowhere.json' }, 'missing', /can't be read/],
  ])('judges the model of %j: %s', (env, verdict, detail) => {
    const finding = checkModel(env);
    expect(finding.verdict).toBe(verdict);
    expect(finding.detail).toMatch(detail);
    expect(JSON.stringify(finding)).not.toContain('"k"');
  });
});
