import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CommandPlace,
  judgeCommand,
  proposeAllowlistEntry,
  type ResolvedProgram,
  type ResolveProgram,
} from '@tempoclaw/shell-judge';
import { DEFAULT_RULES } from './rules.ts';

const BINARIES: Readonly<Record<string, ResolvedProgram>> = {
  terraform: { path: '/usr/bin/terraform', file: '/opt/terraform-1.9/terraform' },
  npm: { path: '/usr/bin/npm' },
  gh: { path: '/usr/bin/gh' },
};
const resolve: ResolveProgram = (name) => BINARIES[name] ?? null;
const found: ResolveProgram = (name) => ({ path: `/usr/bin/${name}` });

describe('allow always', () => {
  test('an entry allows exactly the words it was made of, however they are quoted', () => {
    const proposal = proposeAllowlistEntry('terraform plan -out "my plan"', resolve);
    assert.ok('pattern' in proposal);
    assert.equal(proposal.shown, "/usr/bin/terraform plan -out 'my plan'");
    const rules = { ...DEFAULT_RULES, stored: [proposal.pattern], resolve };
    assert.equal(judgeCommand(`terraform  plan -out 'my plan'`, rules).decision, 'allow');
    for (const other of [
      'terraform plan -out my plan',
      'terraform plan',
      'terraform plan -out "my plan" x',
      './terraform plan -out "my plan"',
      '/tmp/terraform plan -out "my plan"',
      'PATH=. terraform plan -out "my plan"',
      'terraform plan -out "my plan" > x',
      'terraform plan -out "my plan" && id',
      'sudo terraform plan -out "my plan"',
      'echo x | xargs terraform plan -out "my plan"',
    ])
      assert.notEqual(judgeCommand(other, rules).decision, 'allow', other);
  });

  test('an installation that a person allowed always is allowed where the category is off, its likes are not', () => {
    const proposal = proposeAllowlistEntry('npm install left-pad', resolve);
    assert.ok('pattern' in proposal);
    const rules = { ...DEFAULT_RULES, stored: [proposal.pattern], resolve };
    assert.equal(judgeCommand('npm install left-pad', rules).decision, 'deny');
    const off = { ...rules, categoriesOff: ['package_install'] };
    assert.equal(judgeCommand('npm install left-pad', off).decision, 'allow');
    assert.equal(judgeCommand('npm install right-pad', off).decision, 'ask');
  });

  test('another file of the same name is another program: before it in PATH, behind its link, or not to be found', () => {
    const proposal = proposeAllowlistEntry('terraform plan', resolve);
    assert.ok('pattern' in proposal);
    const decide = (program: ResolvedProgram | null): string =>
      judgeCommand('terraform plan', { ...DEFAULT_RULES, stored: [proposal.pattern], resolve: () => program })
        .decision;
    assert.equal(decide(BINARIES['terraform'] ?? null), 'allow');
    assert.equal(decide({ path: '/usr/local/bin/terraform', file: '/opt/terraform-1.9/terraform' }), 'ask');
    assert.equal(decide({ path: '/usr/bin/terraform', file: '/opt/evil/terraform' }), 'ask');
    assert.equal(decide({ path: '/usr/bin/terraform' }), 'ask');
    assert.equal(decide(null), 'ask');
  });

  test('what is shown is one line, whatever is in the arguments, and as bash would read it', () => {
    const shown = (command: string): string => {
      const proposal = proposeAllowlistEntry(command, resolve);
      return 'shown' in proposal ? proposal.shown : proposal.refused;
    };
    assert.equal(shown("npm run 'a\n  it'"), String.raw`/usr/bin/npm run $'a\x0a  it'`);
    assert.equal(shown(`npm run 'a\tb\\c'"'"`), String.raw`/usr/bin/npm run $'a\x09b\\c\''`);
    assert.equal(shown('npm run "it\'s"'), String.raw`/usr/bin/npm run 'it'\''s'`);
  });

  test('programs are those of where the command runs', () => {
    const at = (command: string, place: CommandPlace): boolean =>
      'pattern' in proposeAllowlistEntry(command, resolve, place);
    const places = ['host', 'system', 'image'] as const;
    assert.deepEqual(
      places.map((place) => at('npm publish', place)),
      [true, true, false],
    );
    // The file behind its link is in a folder that bubblewrap does not show.
    assert.deepEqual(
      places.map((place) => at('terraform plan', place)),
      [true, false, false],
    );
    // npm and terraform run what the workspace defines.
    assert.deepEqual(
      ['npm publish', 'terraform plan', 'gh pr list'].map((command) => at(command, 'open_host')),
      [false, false, true],
    );
  });

  test('an entry of a person is no entry of an owner, and names no other command', () => {
    const proposal = proposeAllowlistEntry('npm publish', resolve);
    assert.ok('pattern' in proposal);
    assert.equal(
      judgeCommand('npm publish', { ...DEFAULT_RULES, allowlist: [proposal.pattern], resolve }).decision,
      'ask',
    );
    const stored = [proposal.pattern];
    const same: ResolveProgram = () => ({ path: '/usr/bin/npm' });
    assert.equal(judgeCommand('npm publish', { ...DEFAULT_RULES, stored }).decision, 'ask');
    assert.equal(
      judgeCommand('npm publish; npm publish', { ...DEFAULT_RULES, stored, resolve: same }).decision,
      'ask',
    );
  });

  test('a program that is not there or not to be trusted, and a hidden secret, are refused', () => {
    const missing = proposeAllowlistEntry('flyctl deploy', resolve);
    assert.ok('refused' in missing && missing.refused.includes('flyctl'));
    assert.ok('refused' in proposeAllowlistEntry('npm login --token [REDACTED]', resolve));
  });

  test('wrappers, interpreters with code and changing words are refused, with a reason', () => {
    for (const command of [
      `busybox sh -c 'echo a'`,
      `sh -c 'echo a'`,
      'bash x.sh',
      'env ls',
      'xargs ls',
      'find . -exec id ;',
      'sudo ls',
      `node -e '1'`,
      'python3 -m http.server',
      'python3',
      'perl -e 1',
      'eval ls',
      'ssh host ls',
      'docker run x',
      './tool',
      '/tmp/tool',
      'ls | wc',
      'ls; id',
      'ls $X',
      'ls *',
      'ls > x',
      'A=b ls',
      'A=b',
      'rm -rf x',
      'ls \u200b',
      'ｌｓ',
      'if true; then',
      '',
    ]) {
      const proposal = proposeAllowlistEntry(command, found);
      assert.ok('refused' in proposal && proposal.refused.length > 0, command);
    }
  });
});
