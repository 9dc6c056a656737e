/** SH-3: which box an agent's commands get from the settings and its own. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentConfigSchema } from '#domain/schema/agent.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import { configSchema } from '../../config/schema.ts';

describe('SH-3 the sandbox of an agent', () => {
  test('is preferred, quietly, with the documented limits, when nobody says anything', () => {
    assert.deepEqual(sandboxOf({}, undefined), {
      mode: 'preferred',
      stated: false,
      image: 'tempoclaw-sandbox',
      runtime: undefined,
      scope: 'session',
      network: false,
      workspace: 'rw',
      memoryBytes: 536_870_912,
      cpus: 1,
      pids: 256,
    });
  });

  test('is the agent’s own, then the settings’', () => {
    assert.equal(sandboxOf({ mode: 'preferred' }, 'off'), undefined);
    assert.equal(sandboxOf({ mode: 'off' }, undefined), undefined);
    assert.equal(sandboxOf({ mode: 'off' }, 'required')?.mode, 'required');
    const mixed = sandboxOf({ image: 'ours', memory: '1g', pids: 20 }, { image: 'mine', cpus: 2 });
    assert.deepEqual(
      [mixed?.image, mixed?.memoryBytes, mixed?.pids, mixed?.cpus, mixed?.stated],
      ['mine', 1_073_741_824, 20, 2, false],
    );
    assert.equal(sandboxOf({}, { mode: 'preferred' })?.stated, true);
  });

  test('cannot be less than the settings require', () => {
    assert.equal(sandboxOf({ mode: 'required' }, 'off')?.mode, 'required');
    assert.equal(sandboxOf({ network: false }, { network: true })?.network, false);
    assert.equal(sandboxOf({}, { network: true })?.network, true);
  });

  test('is refused where it is misspelt or out of bounds, in an agent and in the settings', () => {
    const agent = (sandbox: unknown) =>
      agentConfigSchema.safeParse({ key: 'a', type: 'open', model: 'a/b', sandbox });
    for (const wrong of [
      'on',
      { mode: 'on' },
      { memory: '1m' },
      { memory: '0g' },
      { memory: 5 },
      { image: '-v /:/h' },
    ])
      assert.equal(agent(wrong).success, false, JSON.stringify(wrong));
    for (const wrong of [
      { pids: 1 },
      { cpus: 0 },
      { runtime: 'sysbox' },
      { netwrok: true },
      { dockerHost: 'x' },
    ])
      assert.equal(agent(wrong).success, false, JSON.stringify(wrong));
    assert.ok(agent({ mode: 'required', image: 'registry.test:5000/a/b@sha256:0', memory: '64m' }).success);
    assert.equal(configSchema.parse({ sandbox: 'off' }).sandbox.mode, 'off');
    assert.equal(configSchema.safeParse({ sandbox: { mod: 'off' } }).success, false);
    assert.equal(configSchema.parse({}).sandbox.mode, undefined);
  });
});
