import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { findTarget } from '#cli/target.ts';

const NOTHING = { url: undefined, apiKey: undefined, stateDir: undefined };

describe('IN-6 finding the API', () => {
  const home = mkdtempSync(join(tmpdir(), 'tempoclaw-target-'));
  const state = join(home, '.tempoclaw');
  const deep = join(home, 'a', 'b');
  mkdirSync(state);
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(state, 'api-key'), 'tc_local\n');
  const info = {
    api: 'http://127.0.0.1:7400/',
    api_socket: join(state, 'run', 's'),
    api_key_file: join(state, 'api-key'),
    pids: { up: 10, worker: 12 },
  };
  writeFileSync(join(state, 'run.json'), JSON.stringify(info));
  after(() => rmSync(home, { recursive: true }));

  test('run.json in a parent folder gives address, key and pids', () => {
    const target = findTarget({}, NOTHING, deep);
    assert.equal(target.url, 'http://127.0.0.1:7400');
    assert.equal(target.key, 'tc_local');
    assert.deepEqual(target.run?.pids, { up: 10, worker: 12 });
  });

  test('flags win over the environment, and the environment over run.json', () => {
    const env = { ...NOTHING, url: 'http://env:1', apiKey: 'tc_env' };
    assert.equal(findTarget({}, env, deep).url, 'http://env:1');
    const target = findTarget({ url: 'https://flag/base/', apiKey: 'tc_flag' }, env, deep);
    assert.equal(target.url, 'https://flag/base');
    assert.equal(target.key, 'tc_flag');
  });

  test('the local key is never sent to another address', () => {
    assert.equal(findTarget({ url: 'http://elsewhere:7400' }, NOTHING, deep).key, undefined);
    assert.equal(findTarget({ url: 'http://127.0.0.1:7400' }, NOTHING, deep).key, 'tc_local');
  });

  test('SH-7: the local key is sent to nobody where the file names no socket, by which the API proves itself', () => {
    const other = join(home, 'unproven');
    mkdirSync(other);
    writeFileSync(join(other, 'run.json'), JSON.stringify({ ...info, api_socket: null }));
    const { key, socket } = findTarget({ stateDir: other }, NOTHING, deep);
    assert.deepEqual([key, socket], [undefined, undefined]);
    assert.equal(findTarget({}, NOTHING, deep).socket, info.api_socket);
  });

  test('the state folder of the environment is the only one looked at', () => {
    assert.throws(
      () => findTarget({}, { ...NOTHING, stateDir: join(home, 'other') }, deep),
      /No TempoClaw is known here/,
    );
    assert.equal(findTarget({}, { ...NOTHING, stateDir: state }, tmpdir()).url, 'http://127.0.0.1:7400');
  });

  test('a state folder that a flag names wins over an address and a key of the environment', () => {
    const env = { url: 'http://env:1', apiKey: 'tc_env', stateDir: join(home, 'other') };
    const { url, key } = findTarget({ stateDir: state }, env, tmpdir());
    assert.deepEqual([url, key], ['http://127.0.0.1:7400', 'tc_local']);
  });

  test('an address that is no http address is refused with the name of its source', () => {
    assert.throws(
      () => findTarget({ url: 'localhost' }, NOTHING, deep),
      /--url is not an http or https address/,
    );
    assert.throws(() => findTarget({}, { ...NOTHING, url: 'file:///etc' }, deep), /TEMPOCLAW_URL/);
  });
});
