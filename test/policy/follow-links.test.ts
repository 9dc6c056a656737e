import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { judgeCommand, type ShellRules } from '@tempoclaw/shell-judge';
import { DEFAULT_EXEC } from '#domain/agent.ts';
import { createFollowLinks } from '#policy/follow-links.ts';

/** Rules of an agent whose owner set nothing. */
const DEFAULT_RULES: ShellRules = {
  ...DEFAULT_EXEC,
  allowlist: [],
  categoriesOff: [],
  deniedPaths: ['.tempoclaw'],
};

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'links-')));
after(() => rmSync(folder, { recursive: true, force: true }));
const workspace = join(folder, 'workspace');
for (const name of ['.git/hooks', '.tempoclaw', 'src/deep', 'dist'])
  mkdirSync(join(workspace, name), { recursive: true });
mkdirSync(join(folder, 'state'));
for (const name of ['a.txt', 'src/a.txt', '.tempoclaw/api-key', '../state/api-key'])
  writeFileSync(join(workspace, name), 'x');
const links: Record<string, string> = {
  g: '.git',
  key: '.tempoclaw/api-key',
  out: '../state',
  abs: '/etc',
  twice: 'out',
  loop: 'loop',
  gone: '../nothing',
  same: 'src',
  mounted: '/workspace/src',
  'src/deep/up': '../../.git',
  'src/deep/dotdot': '../..',
};
for (const [name, target] of Object.entries(links)) symlinkSync(target, join(workspace, name));

function decide(command: string, working?: string): string {
  return judgeCommand(command, { ...DEFAULT_RULES, followLinks: createFollowLinks(workspace, working) })
    .decision;
}

describe('SH-1 a path is judged by where its links lead', () => {
  for (const command of [
    'cp a.txt g/hooks/pre-commit',
    'cp -t g/hooks a.txt',
    'cp --target-directory=g/hooks a.txt',
    'mv a.txt g/config',
    'echo x > g/config',
    'echo x >> ./g/config',
    'tee g/config < a.txt',
    'touch g/x',
    'cat key',
    'cat < key',
    'cat ./src/../key',
    'cat src/deep/dotdot/.tempoclaw/api-key',
    'cat out/api-key',
    'cat twice/api-key',
    'cat abs/passwd',
    'cat loop',
    'cat gone',
    'head -n 1 -- out/api-key',
    'grep -r x out',
    'grep -r x out/',
    'cd out && cat api-key',
    'cd src && cat deep/up/config > b && cp b deep/up/hooks/x',
    'cd src/deep; cp ../a.txt up/hooks/x',
    'cp a.txt */hooks/x',
    'cp a.txt [g]/hooks/x',
    'cat o*/api-key',
    'cat ou?/api-key',
    'cat */api-key',
    'cat src/*/up/config | tee src/*/up/x',
    'f=key; cat $f',
    'for f in a.txt key; do cat "$f"; done',
    'tar czf a.tgz out',
    'tar czf out/a.tgz src',
    'tar czf a.tgz -C out .',
    'git -C out status',
    'node out/x.js',
    'python3 out/x.py',
    'find out -name x',
    'find src/deep/dotdot/.. -name x',
    'wc -l out/*',
    'sort -k1 out/x',
    'sed -i s/a/b/ g/config',
    'ls out/',
    'ls *',
    'echo a | tee out/x',
    'sh -c "cat key"',
    'timeout 5 cat key',
    'cat "$(echo a)"; cat key',
    'diff a.txt key',
    'jq . key',
    'ln -s same/a.txt g/x',
  ])
    test(`${command} is not allowed`, () => assert.notEqual(decide(command), 'allow'));

  for (const command of [
    'cp a.txt g/hooks/pre-commit',
    'echo x > g/config',
    'cat key',
    'cat o*/../.tempoclaw/x; cat key',
  ])
    test(`${command} is denied, as it is without the link`, () => assert.equal(decide(command), 'deny'));

  for (const command of [
    'cat same/a.txt',
    'cat mounted/a.txt',
    'cp a.txt same/b.txt',
    'echo x > same/b.txt',
    'cd same && cat a.txt',
    'cat *.txt',
    'ls',
    'cat src/a.txt',
    'grep -rn key src',
    'grep key a.txt',
    'git log --grep=out',
    'git commit -m out',
    'echo out',
    'echo key abs g',
    'cat nothing/at/all',
    'sed -n s/g/out/p a.txt',
    'rg out src',
    'find . -name out',
    'jq .key a.txt',
  ])
    test(`${command} is allowed`, () => assert.equal(decide(command), 'allow'));

  test('paths begin in the folder that the command runs in', () => {
    assert.notEqual(decide('cat up/config | tee up/x', 'src/deep'), 'allow');
    assert.equal(decide('cat key', 'src'), 'allow');
    assert.notEqual(decide('cat api-key', 'out'), 'allow');
    assert.equal(decide('cat a.txt', '/workspace/src'), 'allow');
  });

  test('more names than are looked at may lead anywhere', () => {
    const many = join(folder, 'many');
    mkdirSync(many);
    for (let at = 0; at < 30; at += 1) symlinkSync('.', join(many, `to-${at}`));
    const followLinks = createFollowLinks(many);
    assert.deepEqual(followLinks('*/*/*/*/x'), ['/']);
  });

  test('a command that a person allowed always is asked about no more, unless what it leads to is denied', () => {
    const stored = [
      JSON.stringify({ path: '/usr/bin/cat', args: ['out/notes'] }),
      JSON.stringify({ path: '/usr/bin/cat', args: ['key'] }),
    ];
    const resolve = (name: string) => ({ path: `/usr/bin/${name}` });
    const rules = { ...DEFAULT_RULES, stored, resolve, followLinks: createFollowLinks(workspace) };
    assert.equal(judgeCommand('cat out/notes', rules).decision, 'allow');
    assert.equal(judgeCommand('cat key', rules).decision, 'deny');
  });
});
