/**
 * The `tempoclaw` command by itself: what it prints, and that an older Node hands over to the Node 24 of the packages.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'node:test';
import { commandFolders } from '#config';

const BIN = fileURLToPath(new URL('../../bin/tempoclaw.js', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../../package.json', import.meta.url));

/** A Node of this machine that cannot run TypeScript by itself. */
function findOlderNode(): string | undefined {
  return commandFolders()
    .map((folder) => join(folder, 'node'))
    .find((path) => {
      if (!existsSync(path)) return false;
      const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '';
      const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
      return major >= 20 && (major < 22 || (major === 22 && minor < 18));
    });
}

const older = findOlderNode();

describe('the tempoclaw command', () => {
  it('prints the version of the package', () => {
    const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
    const printed = execFileSync(process.execPath, [BIN, '--version'], { encoding: 'utf8' });
    assert.equal(printed.trim(), version);
  });

  it('lists every command with a line of help', () => {
    const help = execFileSync(process.execPath, [BIN, '--help'], { encoding: 'utf8' });
    for (const name of ['up', 'doctor', 'chat', 'run', 'sessions', 'turns', 'approvals', 'agents', 'tools'])
      assert.match(help, new RegExp(`^  ${name}\\b.* {2}\\S`, 'm'), name);
  });

  const skip = older === undefined ? 'no Node before 22.18 on PATH' : false;
  it('on an older Node goes on with the one of the packages, exit code included', { skip }, () => {
    const { status, stdout, stderr } = spawnSync(older ?? '', [BIN, 'doctor', '--json'], {
      encoding: 'utf8',
    });
    const { healthy, findings } = JSON.parse(stdout) as {
      healthy: boolean;
      findings: { check: string; detail: string }[];
    };
    assert.equal(status, healthy ? 0 : 1, stderr);
    assert.match(findings.find(({ check }) => check === 'Node')?.detail ?? '', /^v24\./);
    assert.equal(spawnSync(older ?? '', [BIN, 'no-such-command']).status, 2);
  });
});
