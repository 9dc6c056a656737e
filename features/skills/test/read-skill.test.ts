/** SKILL.md is read in the open format, within limits, and errors are explained. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSkill } from '../policy/read-skill.ts';
import { SKILL_CASES } from '#test/support/skill-texts.ts';

function problemsOf(text: string, folder = 'notes'): string {
  const read = readSkill(text, folder);
  assert.ok(!read.ok, 'it was taken');
  return read.problems.join('; ');
}

function front(more: string): string {
  return `---\nname: notes\ndescription: Writes notes\n${more}\n---\nDo it.`;
}

describe('TL skills: SKILL.md', () => {
  for (const { what, folder, text, isGood, isOurs } of SKILL_CASES)
    it(`${isGood || isOurs ? 'takes' : 'refuses'} ${what}`, () => {
      assert.equal(readSkill(text, folder).ok, isGood || isOurs === true);
    });

  it('gives name, description, tools and instructions', () => {
    const read = readSkill(front('allowed-tools: Read Bash(git add:*) mcp_home__*'), 'notes');
    assert.deepEqual(read, {
      ok: true,
      skill: { name: 'notes', description: 'Writes notes', allowed: ['read_file', 'exec', 'mcp_home__*'] },
      body: 'Do it.',
    });
  });

  it('says of each problem what it is', () => {
    assert.match(
      problemsOf('---\nname: Other\ncolour: red\n---'),
      /colour.*description.*lower-case.*folder is named notes/,
    );
    assert.match(problemsOf(front('metadata: *x')), /no YAML|reference/);
    assert.match(problemsOf(front('name: x')), /no YAML.*unique/i);
  });

  it('refuses front matter that would grow without end, nest without end or is long, at once', () => {
    const bomb = Array.from({ length: 20 }, (_, at) =>
      at === 0 ? 'a0: &a0 [x, x]' : `a${at}: &a${at} [*a${at - 1}, *a${at - 1}]`,
    ).join('\n  ');
    assert.match(problemsOf(front(`metadata:\n  ${bomb}`)), /anchor|reference/);
    assert.match(problemsOf(front(`metadata:\n  ${'- '.repeat(8_000)}x`)), /front matter|cannot be read/);
    assert.match(problemsOf(front(`license: ${'x'.repeat(20_000)}`)), /more than 16384 characters/);
    assert.match(
      problemsOf(front(`allowed-tools: ${Array.from({ length: 101 }, (_, at) => `t${at}`).join(' ')}`)),
      /100 tools/,
    );
  });
});
