/** MO-1: names of tools on the way to a provider and back; cases of test/vectors/policy.json. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createWireNames, stripCallPrefix } from '#activities/model/wire-names.ts';
import vectors from '#test/vectors/policy.json' with { type: 'json' };

describe("MO-1 what a proxy puts around a tool's name is taken off", () => {
  for (const { template, name, result } of vectors.tool_call_prefix_strip.cases)
    test(`${template}: ${name} is ${result}`, () => {
      assert.equal(stripCallPrefix(name, template), result);
    });

  for (const [template, name, result] of [
    ['{tool_name}_v2', '_v2', '_v2'],
    ['{tool_name}_v2', 'exec_v3', 'exec_v3'],
    ['pre_{tool_name}_suf', 'pre__suf', 'pre__suf'],
    ['pre_{tool_name}_suf', 'pre_suf', 'pre_suf'],
    ['pre_{tool_name}_suf', 'pre_exec', 'pre_exec'],
    ['p_{tool_name}', 'P_exec', 'P_exec'],
    ['p_{tool_name}', 'p_p_exec', 'p_exec'],
    ['proxy', 'proxyexec', 'proxyexec'],
    ['proxy', 'proxy_', 'proxy_'],
    ['p.*_', 'pxx_exec', 'pxx_exec'],
    ['', 'proxy_exec', 'proxy_exec'],
    [undefined, 'proxy_exec', 'proxy_exec'],
  ] as const)
    test(`${template}: ${name} is ${result}`, () => {
      assert.equal(stripCallPrefix(name, template), result);
    });

  test('an offered name stays itself, and a name that is unknown both ways is refused as it was written', () => {
    const names = createWireNames(['exec', 'proxy_exec', 'read_file', 'mcp_a__b.c'], 'proxy');
    assert.equal(names.fromWire('proxy_exec'), 'proxy_exec');
    assert.equal(names.fromWire('proxy_read_file'), 'read_file');
    assert.equal(names.fromWire(`proxy_${names.toWire('mcp_a__b.c')}`), 'mcp_a__b.c');
    assert.equal(names.fromWire('proxy_nothing'), 'proxy_nothing');
    assert.equal(createWireNames(['exec']).fromWire('proxy_exec'), 'proxy_exec');
  });
});
