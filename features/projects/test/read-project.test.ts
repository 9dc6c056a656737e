/** The files of a folder are agents, skills and schedules, and what is wrong has its place (IN-12). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { withCodeHooks } from '../code-hooks.ts';
import { type Project, readProject } from '../read-project.ts';
import { templateOf } from '../template.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function projectOf(files: Readonly<Record<string, string>>): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return readProject(folder);
}

describe('IN-12 a folder of agents', () => {
  it('has agents, skills and schedules', async () => {
    const { agents, skills, schedules, problems } = await projectOf({
      'agents/shop.md': '---\nmodel: rehearsal/follow\ntools: { profile: coding }\n---\n\nYou help.\n',
      'skills/refunds/SKILL.md': '---\nname: refunds\ndescription: How\n---\nText',
      'schedules/report.md': '---\nagent: shop\ncron: 0 9 * * 1-5\nzone: Europe/Berlin\n---\nWrite it.',
      'schedules/often.md': '---\nevery: 3600\nsession: log\n---\nLook.',
      'notes.md': 'text',
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(agents, [
      {
        key: 'shop',
        type: 'open',
        model: 'rehearsal/follow',
        tools: { profile: 'coding' },
        instructions: 'You help.',
      },
    ]);
    assert.deepEqual(
      skills.map(({ name, files }) => [name, files.map(({ path }) => path)]),
      [['refunds', ['SKILL.md']]],
    );
    assert.partialDeepStrictEqual(schedules, [
      { name: 'often', message: 'Look.', session: 'log', deliver: 'session' },
      { name: 'report', agent: 'shop', schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' } },
    ]);
  });

  it('is empty without any of the folders', async () => {
    assert.deepEqual(await projectOf({}), { agents: [], skills: [], schedules: [], problems: [] });
  });

  it('that is new has nothing wrong', async () => {
    const { agents, skills, problems } = await projectOf(templateOf('my-agents'));
    assert.deepEqual([agents.length, skills.length, problems], [1, 1, []]);
  });

  it('has files of skills that are six folders deep', async () => {
    const { skills } = await projectOf({
      'skills/deep/SKILL.md': '---\nname: deep\ndescription: How\n---\n',
      'skills/deep/1/2/3/4/5/6/most.txt': 'six',
    });
    assert.deepEqual(
      skills.flatMap(({ files }) => files.map(({ path }) => path)),
      ['1/2/3/4/5/6/most.txt', 'SKILL.md'],
    );
  });

  it('a hook of an agent without a file is wrong, and one whose file is wrong is not named twice', async () => {
    const project = await projectOf({ 'agents/broken.md': 'text' });
    const guard = { name: 'guard', event: 'pre_tool_use' as const };
    const problemsOf = (agents: string[]) =>
      withCodeHooks(project, 'host', [{ ...guard, agents } as never]).problems.map(
        (one) => one.split(':')[0],
      );
    assert.deepEqual(problemsOf(['broken']), ['agents/broken.md']);
    assert.deepEqual(problemsOf(['ghost']), ['agents/broken.md', 'hooks/guard.ts']);
  });

  const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
    'agents/plain.md': ['You help.', /^agents\/plain\.md:1: must begin with front matter/],
    'agents/open.md': ['---\nmodel: x/y\n', /^agents\/open\.md:1: must begin/],
    'agents/yaml.md': ['---\nmodel: x/y\n  a: b\n---\n', /^agents\/yaml\.md:\d: /],
    'agents/list.md': ['---\n- a\n---\n', /^agents\/list\.md:2: the front matter must hold/],
    'agents/field.md': [
      '---\nmodel: x/y\nmodle: z\n---\n',
      /^agents\/field\.md:3: modle: is not a known field$/,
    ],
    'agents/A B.md': ['---\nmodel: x/y\n---\n', /^agents\/A B\.md: key/],
    'schedules/none.md': ['---\nagent: a\n---\nx', /^schedules\/none\.md: needs one of cron, every and at/],
    'schedules/two.md': ['---\nevery: 60\ncron: "* * * * *"\n---\nx', /^schedules\/two\.md: needs one/],
    'agents/other.md': ['---\nkey: shop\nmodel: x/y\n---\n', /^agents\/other\.md:2: key is "shop"/],
    'agents/twice.md': ['---\nmodel: x/y\ninstructions: A\n---\nB', /^agents\/twice\.md:3: .* twice/],
    'schedules/other.md': [
      '---\nname: report\nevery: 60\n---\nx',
      /^schedules\/other\.md:2: name is "report"/,
    ],
    'schedules/twice.md': ['---\nmessage: A\nevery: 60\n---\nB', /^schedules\/twice\.md:2: .* twice/],
    'schedules/cron.md': ['---\ncron: often\n---\nx', /^schedules\/cron\.md:2: cron: "often" has 1 fields/],
    'schedules/zone.md': [
      '---\ncron: 0 9 * * *\nzone: Mars\n---\nx',
      /^schedules\/zone\.md:3: zone: unknown time zone/,
    ],
    'agents/none.md': ['---\nname: N\n---\n', /^agents\/none\.md: model: is required$/],
    'agents/deep.md': [
      '---\nmodel: x/y\ntools:\n  allow: [a]\n  deny: exec\n---\n',
      /^agents\/deep\.md:5: tools\.deny: Invalid input: expected array/,
    ],
    'agents/item.md': [
      '---\nmodel: x/y\ntools:\n  ask:\n    - tool: exec\n      why: x\n---\n',
      /^agents\/item\.md:6: tools\.ask\.0\.why: is not a known field$/,
    ],
    'schedules/every.md': ['---\nevery: 1h\n---\nx', /^schedules\/every\.md:2: every: .* expected number/],
    'schedules/at.md': ['---\nagent: a\nat: soon\n---\nx', /^schedules\/at\.md:3: at: Invalid ISO/],
    'schedules/offset.md': ['---\nevery: 60\nzone: UTC\n---\nx', /^schedules\/offset\.md:3: zone goes with/],
    'schedules/silent.md': ['---\nevery: 60\n---\n', /^schedules\/silent\.md: message: is required$/],
    'skills/other/SKILL.md': ['---\nname: x\ndescription: y\n---\n', /^skills\/other: SKILL\.md is named x/],
    'skills/empty/notes.md': ['x', /^skills\/empty: has no SKILL\.md/],
  };
  for (const [file, [text, words]] of Object.entries(wrong))
    it(`says what is wrong with ${file}`, async () => {
      const { agents, skills, schedules, problems } = await projectOf({ [file]: text });
      assert.deepEqual([agents, skills, schedules, problems.length], [[], [], [], 1]);
      assert.match(problems[0] ?? '', words);
    });
});
