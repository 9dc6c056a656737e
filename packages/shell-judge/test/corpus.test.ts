import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { judgeCommand } from '@tempoclaw/shell-judge';
import { DEFAULT_RULES, UNATTENDED } from './rules.ts';

/** The least share of harmless commands that run without asking. */
const HARMLESS_GATE = 0.97;

function load<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as T;
}

interface Corpus {
  readonly bypass: readonly { id: string; cmd: string; category: string; minimum: 'deny' | 'approval' }[];
  readonly benign: readonly { id: string; cmd: string; tier: 'core' | 'stretch' }[];
  readonly must_reject: readonly { id: string; cmd: string }[];
}

interface DenyVectors {
  readonly cases: readonly { command: string; expect: string; groups?: string[] }[];
  readonly overrides: readonly {
    command: string;
    expect: string;
    overrides?: Record<string, boolean>;
    global?: Record<string, boolean>;
    agent?: Record<string, boolean>;
  }[];
  readonly path_denials: { deny: string[]; exempt: string[]; cases: [string, string][] };
}

const corpus = load<Corpus>('./vectors/shell-bypass-corpus.json');
const vectors = load<DenyVectors>('./vectors/shell-deny.json');
const own = load<{ doubtful: string[]; harmless: string[] }>('./commands.json');
const everyday = Object.values(
  load<{ commands: Record<string, string[]> }>('./everyday.json').commands,
).flat();
const { manuals } = load<{ manuals: Record<string, { held: string[]; allowed: string[] }> }>(
  './manuals.json',
);
const hostile = load<{ denied: string[]; held: string[]; unattended: string[] }>('./hostile.json');

/** Limits for what developers and agents do every day: the shares that may be denied and asked about. */
const MAX_DENIED = 0.01;
const MAX_ASKED = 0.05;

describe('the corpus of ways round a policy, with the default settings', () => {
  test('every bypass is denied or put to a person', (context) => {
    const score = new Map<string, { all: number; denied: number; asked: number }>();
    const through: string[] = [];
    for (const { id, cmd, category, minimum } of corpus.bypass) {
      const { decision } = judgeCommand(cmd, DEFAULT_RULES);
      const row = score.get(category) ?? { all: 0, denied: 0, asked: 0 };
      row.all += 1;
      if (decision === 'deny') row.denied += 1;
      if (decision === 'ask') row.asked += 1;
      score.set(category, row);
      if (decision === 'allow' || (minimum === 'deny' && decision !== 'deny')) through.push(`${id} ${cmd}`);
    }
    for (const [category, row] of score)
      context.diagnostic(`${category.padEnd(22)} ${row.denied} denied, ${row.asked} asked of ${row.all}`);
    assert.deepEqual(through, []);
  });

  test('harmless commands run without a question, and none is denied', (context) => {
    const core = corpus.benign.filter((each) => each.tier === 'core');
    const allowed = core.filter((each) => judgeCommand(each.cmd, DEFAULT_RULES).decision === 'allow');
    context.diagnostic(`harmless: ${allowed.length} of ${core.length} allowed`);
    assert.ok(allowed.length >= core.length * HARMLESS_GATE);
    for (const { id, cmd } of corpus.benign)
      assert.notEqual(judgeCommand(cmd, DEFAULT_RULES).decision, 'deny', `${id} ${cmd}`);
  });

  test('of what developers do all day at most 1 % is denied and 5 % asked about', (context) => {
    const verdicts = everyday.map((cmd) => ({ cmd, ...judgeCommand(cmd, DEFAULT_RULES) }));
    const share = (decision: string): number => {
      const some = verdicts.filter((each) => each.decision === decision);
      for (const { cmd } of some) if (decision !== 'allow') context.diagnostic(`${decision}: ${cmd}`);
      return some.length / verdicts.length;
    };
    const [denied, requested] = [share('deny'), share('ask')];
    context.diagnostic(`of ${verdicts.length}: ${denied * 100} % denied, ${requested * 100} % asked about`);
    assert.ok(denied <= MAX_DENIED && requested <= MAX_ASKED);
  });

  test('what looks like it and is not is denied, or asked about', () => {
    for (const cmd of hostile.denied) assert.equal(judgeCommand(cmd, DEFAULT_RULES).decision, 'deny', cmd);
    for (const cmd of hostile.held) assert.notEqual(judgeCommand(cmd, DEFAULT_RULES).decision, 'allow', cmd);
  });

  for (const [name, { held, allowed }] of Object.entries(manuals)) {
    test(`what the manuals of ${name} say runs, writes or reads elsewhere is not allowed, nor is an option that no table knows`, () => {
      const through = held.filter((cmd) => judgeCommand(cmd, DEFAULT_RULES).decision === 'allow');
      assert.deepEqual(through, []);
    });

    test(`what the manuals of ${name} say only looks, or changes what can be undone, is allowed`, () => {
      const kept = allowed.filter((cmd) => judgeCommand(cmd, DEFAULT_RULES).decision !== 'allow');
      assert.deepEqual(kept, []);
    });
  }

  test('what only resembles it is not denied', () => {
    for (const cmd of [
      'ps -C node',
      'tar czf a.tgz -C /etc hosts',
      'perl -MList::Util -ne print /etc/hosts',
      "alias rm='rm -i'",
      'pip install --help',
      'python3 setup.py --version',
      "python3 - <<'X'\nprint(1)\nX",
      "sed 's/rm/!e/' f",
      'ls >& out.txt',
      'find . -printf %p',
      'echo a > >(cat)',
      `parallel -j4 gzip {} ::: a b`,
    ])
      assert.notEqual(judgeCommand(cmd, DEFAULT_RULES).decision, 'deny', cmd);
  });

  test('a script to which xargs or find only adds arguments is known', () => {
    const rules = { ...DEFAULT_RULES, ask: 'off' as const };
    for (const cmd of [
      `find . -name '*.md' -exec sh -c 'head -1 "$1"' _ {} \\;`,
      `ls | xargs -I% sh -c 'wc -l "$1"' _ %`,
      `ls | xargs sh -c 'for f in "$@"; do wc -l "$f"; done' _`,
    ])
      assert.equal(judgeCommand(cmd, rules).decision, 'allow', cmd);
    for (const cmd of [
      `find . -exec sh -c 'wc -l {}' \\;`,
      `ls | xargs -I% sh -c 'wc -l %'`,
      `find . -exec sh -c '$1' _ {} \\;`,
    ])
      assert.notEqual(judgeCommand(cmd, rules).decision, 'allow', cmd);
  });

  test('what is denied stays so behind a wrapper, a pipe or in a script of its own', () => {
    for (const cmd of hostile.denied.filter((each) => !each.includes('\n'))) {
      const quoted = `'${cmd.replaceAll("'", `'\\''`)}'`;
      for (const hidden of [`true && ${cmd}`, `{ ${cmd}; }`, `sh -c ${quoted}`, `echo "$(${cmd})"`])
        assert.equal(judgeCommand(hidden, DEFAULT_RULES).decision, 'deny', hidden);
    }
  });

  test('what cannot be read is never allowed', () => {
    for (const { id, cmd } of corpus.must_reject)
      assert.notEqual(judgeCommand(cmd, DEFAULT_RULES).decision, 'allow', id);
  });

  test('our own list of doubtful commands is not allowed, that of harmless ones is', () => {
    const allowed = own.doubtful.filter((cmd) => judgeCommand(cmd, DEFAULT_RULES).decision === 'allow');
    assert.deepEqual(allowed, []);
    const held = own.harmless.filter((cmd) => judgeCommand(cmd, DEFAULT_RULES).decision !== 'allow');
    assert.deepEqual(held, []);
  });

  test('behind a wrapper, a pipe or quotes nothing doubtful becomes allowed', () => {
    const plain = own.doubtful.filter((cmd) => !cmd.includes('\n'));
    for (const cmd of plain) {
      const quoted = `'${cmd.replaceAll("'", `'\\''`)}'`;
      for (const hidden of [
        `true && ${cmd}`,
        `(${cmd})`,
        `echo a; ${cmd}`,
        `sh -c ${quoted}`,
        `echo "$(${cmd})"`,
      ])
        assert.notEqual(judgeCommand(hidden, DEFAULT_RULES).decision, 'allow', hidden);
    }
  });

  test('quoted, every doubtful command is data', () => {
    for (const cmd of own.doubtful) {
      const quoted = `echo '${cmd.replaceAll("'", '')}'`;
      assert.equal(judgeCommand(quoted, DEFAULT_RULES).decision, 'allow', quoted);
    }
  });
});

describe('deny categories, with nobody to ask', () => {
  for (const { command, expect, groups } of vectors.cases) {
    test(`${JSON.stringify(command)}: ${expect}`, () => {
      const verdict = judgeCommand(command, UNATTENDED);
      assert.equal(verdict.decision, expect === 'error' ? 'deny' : expect, verdict.reason);
      if (groups?.[0] !== undefined)
        assert.ok(groups.includes(verdict.category ?? ''), String(verdict.category));
    });
  }

  test('what only shows disks, settings and certificates, or sets a harmless value, is not denied', () => {
    for (const cmd of hostile.unattended) assert.equal(judgeCommand(cmd, UNATTENDED).decision, 'allow', cmd);
  });

  test('a category that is switched off lets its own commands through and no others', () => {
    for (const { command, expect, overrides, global, agent } of vectors.overrides) {
      const switches = Object.entries(overrides ?? { ...global, ...agent });
      const categoriesOff = switches.filter(([, isOn]) => !isOn).map(([name]) => name);
      assert.equal(judgeCommand(command, { ...UNATTENDED, categoriesOff }).decision, expect, command);
    }
  });

  test('a denied path is denied in every form, an exempted one is not', () => {
    const { deny, exempt, cases } = vectors.path_denials;
    const deniedPaths = [...deny, ...exempt.map((path) => `!${path}`)];
    for (const [command, expect] of cases)
      assert.equal(judgeCommand(command, { ...UNATTENDED, deniedPaths }).decision, expect, command);
  });

  test('a denied path is found behind `..` and as a default, and an exemption holds for known names only', () => {
    const deniedPaths = ['/data/', '.goclaw/', '!.goclaw/skills-store/', '!/data/skills-store/'];
    const decide = (command: string) => judgeCommand(command, { ...UNATTENDED, deniedPaths }).decision;
    for (const command of [
      'cat /tmp/../data/x',
      'cat /tmp/a/../../data',
      'cat ${X:-/data/a}',
      'cat ${X-/data/a}',
      'cat ${X:=/data/a}',
      'cat ${X+/data/a}',
      'cat "${1:-.goclaw/a}"',
      'cat /data/skills-store/$X',
      'cat "/data/skills-store/$(id)/x"',
      'X=..; cat /data/skills-store/$X/config.json',
      'tar cf a -C/data x',
    ])
      assert.equal(decide(command), 'deny', command);
    for (const command of [
      'cat /tmp/../database',
      'cat x:-/data/y',
      'X=a; cat /data/skills-store/$X/b',
      'for f in a b; do cat /data/skills-store/$f; done',
      'cat /data/skills-store/*/README.md',
    ])
      assert.equal(decide(command), 'allow', command);
  });

  test('no switch opens a denied path', () => {
    const categoriesOff = ['denied_path', 'credential_access', 'dangerous_paths'];
    const rules = { ...UNATTENDED, deniedPaths: ['.state'], categoriesOff };
    assert.equal(judgeCommand('cat .state/api-key', rules).decision, 'deny');
  });
});
