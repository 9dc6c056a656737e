/** The example under examples/skills is accepted and used, and its script does what SKILL.md says. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { sentFile, type SkillStack, startSkillStack } from '#test/support/skills.ts';

const FOLDER = new URL('../../../examples/skills/release-notes/', import.meta.url);
const FILES = ['SKILL.md', 'template.md', 'scripts/changes.sh'];

describe('the example skill release-notes', () => {
  let skills: SkillStack;
  before(async () => {
    const exec = { security: 'full', ask: 'off' } as const;
    skills = await startSkillStack({ agents: [{ key: 'writer', model: 'rehearsal/follow', exec }] }, {});
  });
  after(() => skills.stop());

  it('lists the changes of a repository by kind', async () => {
    const files = await Promise.all(
      FILES.map(async (path) => sentFile(path, await readFile(new URL(path, FOLDER), 'utf8'))),
    );
    const published = await skills.ask('PUT', '/release-notes', { files, visibility: 'public' });
    assert.equal(published.status, 200, JSON.stringify(published.body));
    const workspace = skills.own('writer', '');
    await mkdir(workspace, { recursive: true });
    const git = (...words: string[]) =>
      promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
        cwd: workspace,
      });
    const commit = (subject: string) => git('commit', '-q', '--allow-empty', '-m', subject);
    await git('init', '-q');
    await commit('chore: begin');
    await git('tag', 'v1');
    for (const subject of ['feat(tea): brews', 'fix!: no sugar', 'docs: more']) await commit(subject);
    const { calls } = await skills.turn(
      [
        'use_skill {"name":"release-notes"}',
        'exec {"command":"sh scripts/changes.sh v1","working_dir":".skills/release-notes@1"}',
      ].join('\nthen\n'),
      { agent: 'writer' },
    );
    assert.deepEqual(
      calls.map(({ ok }) => ok),
      [true, true],
      JSON.stringify(calls),
    );
    assert.match(
      calls[1]?.result ?? '',
      /feat:\n- feat\(tea\): brews\nfix:\n- fix!: no sugar\nbreaking:\n- fix!: no sugar/,
    );
  });
});
