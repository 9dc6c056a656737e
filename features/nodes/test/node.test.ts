/** What a node was started for determines what it runs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayRun, offeredCapabilities, onlyReadsThere, reconnectDelay, timeLeft } from '../contract/node.ts';

const RUNS: readonly (readonly [pattern: string, argv: readonly string[], may: boolean])[] = [
  ['git status', ['git', 'status'], true],
  ['git status', ['git', 'status', '--short'], false],
  ['git status', ['git'], false],
  ['git status', ['./git', 'status'], false],
  ['git status', ['/tmp/git', 'status'], false],
  ['git status', ['git status'], false],
  ['npm run *', ['npm', 'run', 'build'], true],
  ['npm run *', ['npm', 'run', 'build', '--', 'x'], false],
  ['npm run *', ['npm', 'run', 'a b; rm -rf /'], true],
  ['npm run build', ['npm', 'run', 'build; rm'], false],
  ['ls **', ['ls'], true],
  ['ls **', ['ls', '-l', '/'], true],
  ['ls **', ['lsof'], false],
  ['ls **', [], false],
  ['**', [], false],
  ['**', ['anything', 'at', 'all'], true],
  ['* --version', ['node', '--version'], true],
  ['* --version', ['node', '-e', '1'], false],
];

describe('TL nodes rules of a node', () => {
  for (const [pattern, argv, may] of RUNS)
    it(`${pattern} ${may ? 'allows' : 'does not allow'} ${JSON.stringify(argv)}`, () => {
      assert.equal(mayRun(['never this', pattern], argv), may);
    });

  it('no pattern allows nothing', () => {
    assert.equal(mayRun([], ['ls']), false);
  });

  it('it may be asked what it declares, as far as it was invited for that', () => {
    const capabilities = ['system.info', 'system.run'].map((name) => ({ name, description: name }));
    const about = { platform: 'x', version: '1', journal: 'j', capabilities };
    assert.deepEqual(offeredCapabilities(about, null), capabilities);
    assert.deepEqual(offeredCapabilities(about, ['system.info', 'file.read']), capabilities.slice(0, 1));
    assert.deepEqual(offeredCapabilities(null, null), []);
  });

  it('only what is known to read is taken for reading', () => {
    assert.deepEqual(
      ['system.info', 'file.read', 'system.run', 'lamp.read', undefined, 7].map(onlyReadsThere),
      [true, true, false, false, false, false],
    );
  });

  it('what was late to be taken has the time that is left, unless two clocks only differ', () => {
    assert.deepEqual(
      [0, 400, 999, -400, 1_000, 3_600_000].map((waited) => timeLeft(1_000, waited)),
      [1_000, 600, 1, 1_000, 1_000, 1_000],
    );
  });

  it('it comes back ever later, within bounds, and spread', () => {
    for (const random of [0, 0.999]) {
      const waits = Array.from({ length: 40 }, (_, at) => reconnectDelay(at, () => random));
      assert.ok(waits.every((wait, at) => wait >= (waits[at - 1] ?? 0) && wait >= 250 && wait <= 30_000));
    }
    assert.notEqual(
      reconnectDelay(3, () => 0),
      reconnectDelay(3, () => 0.9),
    );
  });
});
