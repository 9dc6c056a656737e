import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ALLOWED_ALWAYS, judgeCommand, type ShellRules } from '@tempoclaw/shell-judge';
import { SHELL_SWITCHES } from '@tempoclaw/shell-judge/switches';
import fc from 'fast-check';
import { CATEGORIES } from '../src/rules/categories.ts';
import { DEFAULT_RULES, UNATTENDED } from './rules.ts';

interface Check {
  readonly security?: ShellRules['security'];
  readonly ask?: ShellRules['ask'];
  readonly allowlist?: readonly string[];
  readonly command: string;
  readonly expect: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('./vectors/security-and-ask.json', import.meta.url), 'utf8'),
) as {
  check: Check[];
  bypasses_to_close: Check[];
};

describe('security and ask', () => {
  for (const { command, expect, ...rules } of [...vectors.check, ...vectors.bypasses_to_close])
    test(`${JSON.stringify(command)} under ${JSON.stringify(rules)}: ${expect}`, () => {
      const { decision } = judgeCommand(command, { ...DEFAULT_RULES, ...rules });
      assert.ok(expect.split(' or ').includes(decision), decision);
    });

  test('a deny category wins over the allowlist, over full and over a person’s always', () => {
    const allowlist = ['rm', 'rm *', '=["rm","-rf","x"]'];
    for (const security of ['allowlist', 'full'] as const)
      for (const ask of ['off', 'on-miss', 'always'] as const)
        assert.equal(
          judgeCommand('rm -rf x', { ...DEFAULT_RULES, security, ask, allowlist }).decision,
          'deny',
        );
  });

  test('the allowlist must cover every command of the line', () => {
    const rules: ShellRules = {
      ...DEFAULT_RULES,
      security: 'allowlist',
      ask: 'off',
      allowlist: ['git *', 'ls'],
    };
    for (const command of ['git status && ls -la', 'NODE_ENV=test ls', 'LANG=C git log', 'name=x; ls'])
      assert.equal(judgeCommand(command, rules).decision, 'allow', command);
    for (const command of [
      'git status | tee x',
      'git log $(id)',
      'ls; cat x',
      'git status > x',
      'LS_EXEC=b ls',
      'GIT_PAGER=x git log',
      'PATH=.; ls',
      'name=$(cat x); ls',
    ])
      assert.equal(judgeCommand(command, rules).decision, 'deny', command);
  });

  test('an entry covers a program of a system folder by its path, and no other of the name', () => {
    const rules = {
      ...DEFAULT_RULES,
      security: 'allowlist',
      ask: 'off',
      allowlist: ['ls', 'git log*'],
    } as const;
    for (const command of ['/usr/bin/ls -la', '/bin/ls', '/usr/bin/git log -1'])
      assert.equal(judgeCommand(command, rules).decision, 'allow', command);
    for (const command of [
      './ls',
      'bin/ls',
      '/tmp/bin/ls',
      '/usr/local/bin/ls',
      '/usr/bin/../../tmp/ls',
      '/usr/bin/git push',
      '/usr/bin/curl x',
      '/usr/bin/git -c core.pager=x log',
    ])
      assert.equal(judgeCommand(command, rules).decision, 'deny', command);
  });

  test('a program on the allowlist is not trusted with options that start programs', () => {
    const rules: ShellRules = { ...DEFAULT_RULES, security: 'allowlist', allowlist: ['git', 'sort *'] };
    for (const command of ['git -c core.pager=x log', 'git log --ext-diff', 'sort --compress-program=sh x'])
      assert.notEqual(judgeCommand(command, rules).decision, 'allow', command);
  });

  test('a program on the allowlist is not trusted with these options in their short or cut forms either', () => {
    const rules = { ...DEFAULT_RULES, security: 'allowlist', ask: 'off', allowlist: ['git'] } as const;
    for (const command of [
      'git grep -O frob x',
      'git grep -nOfrob x',
      'git clone -u frob x',
      'git -C sub clone -qufrob x',
      'git fetch --upload-p=frob x',
      'git send-email --sendmail-cmd=frob a',
      'git rebase -xfrob HEAD',
      'git clone -c core.sshCommand=frob x',
      'git clone --conf core.sshCommand=frob x',
      'git init --template=/tmp/x',
      'git grep -3Ofrob x',
      'git grep -n3Ofrob x',
      'git grep -hC3Ofrob x',
      'git --git-dir .git grep -Ofrob x',
      'git --work-tree . clone -u frob a b',
      'git --namespace n --git-dir .git difftool -x frob',
      'git --attr-source HEAD grep -Ofrob x',
      'git rebase -ix frob',
      'git rebase -i -x frob main',
      'git bisect run frob',
      'git send-email --sendm=frob a',
      'git send-email -to-cmd=frob a',
      'git send-email --CC-CMD frob a',
      'git send-email --hea=frob a',
      'git send-email --smtp-server ./frob --smtp-server /frob a',
    ])
      assert.equal(judgeCommand(command, rules).decision, 'deny', command);
    for (const command of [
      'git grep -in OTTER',
      'git grep -e FOO',
      'git grep -neTODO',
      'git grep -3 OTTER',
      'git --git-dir .git grep x',
      'git clone -b main x',
      'git rebase main',
      'git rebase -i trunk',
      'git show --cc HEAD',
      'git log --cc -p',
      'git diff --cc',
      'git format-patch --to=a@b.test --cc a@b.test HEAD~1',
      'git send-email --to=a@b.test --to-cover --cc=a@b.test --smtp-server mail.b.test a',
    ])
      assert.equal(judgeCommand(command, rules).decision, 'allow', command);
    for (const command of ['git grep -3Ofrob x', 'git grep -n3Ofrob x', 'git grep -3ffrob'])
      assert.notEqual(judgeCommand(command, DEFAULT_RULES).decision, 'allow', command);
    assert.equal(judgeCommand('git grep -n3 OTTER', DEFAULT_RULES).decision, 'allow');
  });

  test('nor are other programs with theirs', () => {
    for (const command of [
      'tar -I frob -xf x',
      'tar -cf x y -I frob',
      'rsync --rsh frob a b',
      'split --filt frob x',
      'wget -e use_askpass=frob x',
      "mysql -e '\\! frob'",
      "psql -c '\\! frob'",
      "sqlite3 x '.shell frob'",
      'pandoc -F ./x y',
      'pandoc -sFx y',
      'go test -exec frob',
      'go test ./... -exec frob',
      'go run -exec frob . -config y',
      'go run -tags . -exec frob .',
      'go run -race -C x -toolexec frob .',
      'cargo --config build.rustc-wrapper=frob build',
      'cargo --config build.rustc-wrapper=frob run -- x',
      'npm test --script-shell=./x',
      'npm test --script-shell ./x -- --config y',
      'gcc -wrapper frob,x y',
      'java -javaagent:x y',
      'java -cp x -javaagent:x Main',
      'java -cp -jar -javaagent:x Main',
      'java -jar -javaagent:x y.jar',
      'yt-dlp --exec frob x',
      "vimdiff -c ':!frob'",
    ]) {
      const allowlist = [command.split(' ')[0] ?? ''];
      const rules = { ...DEFAULT_RULES, security: 'allowlist', ask: 'off', allowlist } as const;
      assert.equal(judgeCommand(command, rules).decision, 'deny', command);
    }
    const allowlist = ['tar', 'go', 'npm', 'gcc', 'psql', 'wget', 'cargo', 'java', 'pandoc'];
    const rules = { ...DEFAULT_RULES, security: 'allowlist', ask: 'off', allowlist } as const;
    for (const command of [
      'tar -czf x.tgz src',
      'go test ./...',
      'npm test',
      'gcc -O2 -Wall x.c -o x',
      "psql -c 'select 1'",
      'wget -O x https://x.test/a',
      'npm test -- --config jest.ci.js',
      'npm run lint -- --config .eslintrc',
      'cargo run -- --config dev.toml',
      'go run . -config dev.yaml',
      'go run -race -tags x ./cmd/y --exec z',
      'java -jar app.jar --config=x',
      'java -Xmx1g -cp x Main --config=x',
      'pandoc -oFinal.pdf a.md',
      'pandoc -fLatex -o Final.pdf a.md',
    ])
      assert.equal(judgeCommand(command, rules).decision, 'allow', command);
  });

  test('what may run code of the workspace is asked about each time where nothing confines commands, and why', () => {
    const asks = [
      'python3 x.py',
      'node x.js',
      'npm test',
      'make',
      'go test',
      'pytest',
      './x',
      'bash x.sh',
      'nice make',
    ];
    const open: ShellRules = { ...DEFAULT_RULES, openHost: 'this is why' };
    for (const command of asks) assert.equal(judgeCommand(command, open).decision, 'ask', command);
    const { rule, reason } = judgeCommand('npm test', open);
    assert.equal(rule, 'open_host');
    assert.equal(reason, 'npm may run code of the workspace, and this is why');
    for (const command of [
      'ls',
      'git status',
      'grep x y | wc -l',
      "bash -c 'ls'",
      'node --version',
      'gofmt x.go',
    ])
      assert.equal(judgeCommand(command, open).decision, 'allow', command);
    assert.equal(judgeCommand('npm test', DEFAULT_RULES).decision, 'allow');
    const resolve = (): { path: string } => ({ path: '/usr/bin/npm' });
    const stored = [JSON.stringify({ path: '/usr/bin/npm', args: ['publish'] })];
    const always: ShellRules = { ...DEFAULT_RULES, stored, resolve };
    assert.equal(judgeCommand('npm publish', always).rule, ALLOWED_ALWAYS);
    assert.equal(judgeCommand('npm publish', { ...open, stored, resolve }).decision, 'ask');
  });

  test('what would need a person is denied where nobody is asked', () => {
    for (const command of ['$X y', 'if true; then', 'npm install x', 'cat .env'])
      assert.equal(judgeCommand(command, UNATTENDED).decision, 'deny', command);
  });

  test('words with many values make a bounded number of commands, and what is denied stays so', () => {
    for (const values of ['{a,b} ', '{1..9} ', 'x{a,b,c}y ']) {
      const many = `ls ${values.repeat(3_000)}`;
      const { decision, rule, command_words: commands } = judgeCommand(many, DEFAULT_RULES);
      assert.deepEqual([decision, rule], ['ask', 'unparsable'], values);
      assert.ok(commands.flat().length < 60_000, values);
      assert.equal(judgeCommand(`${many}; rm -rf /`, DEFAULT_RULES).decision, 'deny', values);
    }
  });

  test('words that are inserted very often make a bounded text', () => {
    const long = 'x'.repeat(20_000);
    for (const command of [
      `echo ${long} | xargs -I% sh -c '${'%'.repeat(20_000)}'`,
      `printf '${long}%s' ${'a '.repeat(10_000)} | xargs -I% sh -c %`,
      `parallel 'echo ${'{}'.repeat(10_000)}' ::: ${long}`,
      `parallel 'echo ${long}' ::: ${'a '.repeat(10_000)}`,
    ]) {
      const { decision, command_words: commands } = judgeCommand(command, DEFAULT_RULES);
      assert.equal(decision, 'ask', command.slice(0, 30));
      assert.ok(commands.flat().join('').length < 400_000, command.slice(0, 30));
    }
  });

  test('a link that is named very often makes a bounded number of commands', () => {
    const followLinks = (path: string): readonly string[] => (path === 'l' ? ['/home/a'] : []);
    for (const many of ['cat '.padEnd(12_000, 'l '), 'cat '.padEnd(12_000, '>l ')]) {
      const { decision, rule } = judgeCommand(many, { ...DEFAULT_RULES, followLinks });
      assert.deepEqual([decision, rule], ['ask', 'unparsable']);
      assert.equal(judgeCommand(many, { ...UNATTENDED, followLinks }).decision, 'deny');
    }
    // What was found before is judged.
    const first = judgeCommand(`cat secret ${'l '.repeat(9_000)}`, {
      ...DEFAULT_RULES,
      deniedPaths: ['/closed'],
      followLinks: (path) => (path === 'secret' ? ['/closed/key'] : followLinks(path)),
    });
    assert.deepEqual([first.decision, first.rule], ['deny', 'denied_path']);
    const few = judgeCommand('cat '.padEnd(100, 'l '), { ...DEFAULT_RULES, followLinks });
    assert.notEqual(few.rule, 'unparsable');
  });

  test('a text that is too long is asked about, or denied where nobody is', () => {
    const command = `echo ${'a'.repeat(70_000)}`;
    assert.equal(judgeCommand(command, DEFAULT_RULES).decision, 'ask');
    assert.equal(judgeCommand(command, UNATTENDED).decision, 'deny');
  });
});

describe('what the shell would run', () => {
  test('the verdict names every command, those behind wrappers and in inner scripts too', () => {
    const { command_words } = judgeCommand(
      `nice env A=b sh -c 'ls | wc -l' && echo "$(date)"`,
      DEFAULT_RULES,
    );
    const programs = command_words.map((words) => words[0]);
    for (const program of ['nice', 'env', 'sh', 'ls', 'wc', 'echo', 'date'])
      assert.ok(programs.includes(program));
  });

  test('look-alike letters are judged as read and as written', () => {
    assert.equal(judgeCommand('ｒｍ -rf x', DEFAULT_RULES).decision, 'deny');
    // A character that is no quote for the shell does not hide what follows it.
    assert.equal(judgeCommand('echo ＇; rm -rf x ＇', DEFAULT_RULES).decision, 'deny');
  });

  test('control characters are refused, bidirectional overrides too', () => {
    for (const char of ['\0', '\r', '\u001b', '\u202e', '\u2066'])
      assert.equal(judgeCommand(`echo ${char}a`, DEFAULT_RULES).decision, 'deny', JSON.stringify(char));
  });

  test('the reason is a safety policy’s for a category, and names what is done', () => {
    const verdict = judgeCommand('sudo ls', DEFAULT_RULES);
    assert.equal(verdict.category, 'privilege_escalation');
    assert.match(verdict.reason, /^command denied by safety policy: sudo /);
  });

  test('every switch is a category or a rule, and every category is a switch', () => {
    const rules = CATEGORIES.flatMap((each) => each.rules.map((rule) => rule.rule));
    const names = new Set<string>([...CATEGORIES.map((each) => each.category), ...rules, 'fork_bomb']);
    for (const name of SHELL_SWITCHES) assert.ok(names.has(name), name);
    for (const { category } of CATEGORIES)
      assert.ok(
        SHELL_SWITCHES.some((name) => name === category),
        category,
      );
  });

  test('a fork bomb is denied under any name', () => {
    for (const command of ['bomb() { bomb | bomb & }; bomb', 'function f { f & f; }; f'])
      assert.equal(judgeCommand(command, DEFAULT_RULES).rule, 'fork_bomb', command);
  });

  test('long pipes of groups end: each command is looked at once', () => {
    const command = Array.from({ length: 60 }, () => '{ a; b; sh; }').join(' | ');
    assert.notEqual(judgeCommand(command, DEFAULT_RULES).decision, 'allow');
  });
});

describe('properties', () => {
  const piece = fc.constantFrom(
    ...`ls cat rm -rf / ../ ~ .state $X \${X} $(id) \`id\` ' " \\ | & ; < > << ( ) { } [ ] * ? # = ! echo sh -c eval if then fi for in do done git env xargs find -exec \n`.split(
      ' ',
    ),
    ' ',
    '\n',
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));

  test('no text makes the judge fail, and the same text has the same verdict', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary', maxLength: 200 })), (command) => {
        assert.deepEqual(judgeCommand(command, DEFAULT_RULES), judgeCommand(command, DEFAULT_RULES));
      }),
      { numRuns: 300 },
    );
  });

  test('a program may be called like what every object has', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      for (const command of [name, `${name} -o a b`, `sudo -n ${name}`, `ls | xargs ${name}`])
        assert.notEqual(judgeCommand(command, DEFAULT_RULES).decision, 'allow', command);
  });

  test('adding a denied command never makes a text allowed', () => {
    fc.assert(
      fc.property(text, (before) => {
        // A backslash before the line's end would join the lines.
        assert.notEqual(judgeCommand(`${before} \nrm -rf /`, DEFAULT_RULES).decision, 'allow');
      }),
      { numRuns: 300 },
    );
  });

  test('a narrower setting never allows more', () => {
    const order = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(text, (command) => {
        const open = judgeCommand(command, DEFAULT_RULES);
        const always = judgeCommand(command, { ...DEFAULT_RULES, ask: 'always' });
        const none = judgeCommand(command, { ...DEFAULT_RULES, security: 'deny' });
        assert.ok(order[open.decision] <= order[always.decision]);
        assert.equal(none.decision, 'deny');
      }),
      { numRuns: 300 },
    );
  });
});
