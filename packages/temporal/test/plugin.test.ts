/** What the plugin refuses before anything runs, and how it names arguments. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namedArguments, positionalArguments } from '../src/arguments.ts';
import { TempoClawPlugin, type TempoClawPluginOptions } from '../src/plugin.ts';

const options: TempoClawPluginOptions = {
  url: 'http://127.0.0.1:7400',
  key: 'tc_x',
  tools: { refund: { replay: 'once' } },
};

describe('options', () => {
  it('that cannot be used are refused with what to do', () => {
    const refuses = (wrong: object, words: RegExp) =>
      assert.throws(() => new TempoClawPlugin({ ...options, ...wrong }), words);
    refuses({ url: 'localhost:7400' }, /url must be/);
    refuses({ key: '' }, /api-keys create/);
    refuses({ tools: { refund: { replay: 'twice' } } }, /tools\.refund\.replay must be readonly/);
    refuses({ tools: { 'do-refund': { replay: 'once' } } }, /do-refund: give it a `name`/);
    const many = Array.from({ length: 201 }, (_, at) => [`tool${at}`, { replay: 'once' }]);
    refuses({ tools: Object.fromEntries(many) }, /more than 200/);
  });

  it('add to those of a worker and of a bundle, and take nothing away', () => {
    const plugin = new TempoClawPlugin(options);
    const activity = () => ({});
    const mine = async () => 'mine';
    const worker = plugin.configureWorker({
      taskQueue: 'x',
      activities: { mine },
      interceptors: { activity: [activity], workflowModules: ['x'] },
    });
    assert.equal(worker.activities && 'mine' in worker.activities && worker.activities.mine, mine);
    assert.equal(worker.interceptors?.activity?.at(-1), activity);
    assert.deepEqual(worker.interceptors?.workflowModules, ['x']);
    const bundle = plugin.configureBundler({ workflowsPath: 'x', workflowInterceptorModules: ['y'] });
    assert.equal(bundle.workflowInterceptorModules?.[0], 'y');
    // The key stays in the worker's process.
    assert.ok(!JSON.stringify(bundle).includes('tc_x'));
    assert.ok(!JSON.stringify(bundle).includes(Buffer.from('tc_x').toString('hex')));
  });
});

describe('arguments', () => {
  const named = { replay: 'once', parameters: ['order', 'euros'] } as const;
  const free = { replay: 'once' } as const;
  const toolOptions = { toolCallId: 'call_1', messages: [] };

  it('have names for rules, and go back to their places after an edit', () => {
    for (const [tool, args, names] of [
      [free, [{ order: '7' }], { order: '7' }],
      [free, ['7', 20], { arguments: ['7', 20] }],
      [free, [], { arguments: [] }],
      [free, [{ order: '7' }, { force: true }], { arguments: [{ order: '7' }, { force: true }] }],
      [named, ['7', 20], { order: '7', euros: 20 }],
      [named, ['7', 20, true], { order: '7', euros: 20, arguments: [true] }],
      [free, [{ order: '7' }, toolOptions], { order: '7' }],
    ] as const) {
      assert.deepEqual(namedArguments(tool, args), names);
      assert.deepEqual(positionalArguments(tool, args, names), args);
    }
    assert.deepEqual(positionalArguments(free, [{ order: '7' }, toolOptions], { order: '8' }), [
      { order: '8' },
      toolOptions,
    ]);
  });
});
