import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('../../config/prepare-variables.ts', import.meta.url));

/** The variables that packages find. */
function found(env: Record<string, string>): Record<string, string | undefined> {
  const { stdout } = spawnSync(process.execPath, ['--import', FILE, '-p', 'JSON.stringify(process.env)'], {
    env,
    encoding: 'utf8',
  });
  return JSON.parse(stdout) as Record<string, string>;
}

describe('variables of a program', () => {
  test('a proxy is not asked for servers on this machine', () => {
    const { no_proxy, NO_PROXY } = found({ HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'corp.example' });
    assert.equal(NO_PROXY, 'corp.example,localhost,127.0.0.1,::1');
    assert.equal(no_proxy, NO_PROXY);
    const own = found({ http_proxy: 'http://127.0.0.1:9', no_grpc_proxy: 'temporal.example' });
    assert.equal(own['no_grpc_proxy'], 'temporal.example,localhost,127.0.0.1,::1');
  });

  test('without a proxy nothing is added, and what is empty is unset', () => {
    const env = found({ OPENAI_API_KEY: '' });
    assert.deepEqual(
      [env['no_proxy'], env['NO_PROXY'], env['OPENAI_API_KEY']],
      [undefined, undefined, undefined],
    );
  });
});
