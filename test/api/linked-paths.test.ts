/**
 * SH-1: what a command names is judged by the targets of the workspace's links, before a person is asked and again
 * before it runs.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('SH-1 commands on a workspace with links', () => {
  let stack: Stack;
  let workspace: string;
  let elsewhere: string;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'links', sandbox: 'off', workspace: 'linked' }] });
    workspace = join(stack.worker.workspaceRoot, stack.tenant, 'linked');
    await mkdir(join(workspace, '.git/hooks'), { recursive: true });
    await mkdir(join(workspace, '.tempoclaw'), { recursive: true });
    await writeFile(join(workspace, '.tempoclaw/api-key'), 'planted');
    await writeFile(join(workspace, 'a.txt'), 'text of a\n');
    await symlink('.git', join(workspace, 'g'));
    elsewhere = await mkdtemp(join(tmpdir(), 'elsewhere-'));
    await symlink(elsewhere, join(workspace, 'out'));
    await symlink('.tempoclaw/api-key', join(workspace, 'key'));
    await writeFile(join(elsewhere, 'b.txt'), 'text of b\n');
  });
  after(async () => {
    await rm(elsewhere, { recursive: true, force: true });
    await stack.stop();
  });

  const run = (command: string) =>
    stack.ask('POST', '/v1/tools/exec/invoke', { body: { args: { command }, agent: 'links' } });

  it('denies what a link hides from it', async () => {
    for (const command of ['cp a.txt g/hooks/pre-commit', 'echo x > g/config', 'cat key']) {
      const { status, body } = await run(command);
      assert.equal(status, 200, command);
      assert.equal(body.code, 'PermissionDenied', JSON.stringify(body));
    }
    await assert.rejects(readFile(join(workspace, '.git/config')));
  });

  it('puts what leads out of the workspace to a person', async () => {
    const { status, body } = await run('cat out/b.txt');
    assert.equal(status, 202, JSON.stringify(body));
  });

  it('runs what leads nowhere else', async () => {
    const { status, body } = await run('cat a.txt');
    assert.equal(status, 200);
    assert.match(body.text, /text of a/);
  });
});
