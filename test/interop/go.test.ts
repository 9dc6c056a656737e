/** AP-2, IN: the contract's Go functions are valid Go, and fit the Temporal SDK that they name. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { childEnvironment } from '#config';
import { readContractSnippets } from '#test/support/contract-snippets.ts';

const run = promisify(execFile);
/** The release that they are compiled with. */
const SDK = 'v1.35.0';

const go = (cwd: string, ...args: string[]) =>
  run('go', args, { cwd, env: childEnvironment({ GOFLAGS: '-mod=mod', GOWORK: 'off' }), timeout: 300_000 });

const missing = await go(tmpdir(), 'version').then(
  () => false as const,
  (error: Error) => `no Go: ${error.message}`,
);

describe('AP-2 the contract in Go', { skip: missing }, () => {
  it('compiles, each function of it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-go-'));
    try {
      const { go: code } = await readContractSnippets();
      await writeFile(
        join(folder, 'go.mod'),
        `module contract\n\ngo 1.23.0\n\nrequire go.temporal.io/sdk ${SDK}\n`,
      );
      await writeFile(join(folder, 'contract.go'), code);
      await go(folder, 'mod', 'tidy');
      await go(folder, 'vet', './...');
      const { stdout } = await go(folder, 'doc', '-all', '-u', '.');
      for (const name of ['submit', 'steer', 'sendMessage', 'stop', 'stopIdle', 'decide', 'withdraw'])
        assert.match(stdout, new RegExp(`func ${name}\\(`));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
