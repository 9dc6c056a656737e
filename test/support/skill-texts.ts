/**
 * Texts of SKILL.md, good and bad: their description, the folder, the text, and whether it is valid in the open format.
 */

export interface SkillCase {
  readonly what: string;
  readonly folder: string;
  readonly text: string;
  readonly isGood: boolean;
  /** Accepted here and not by the format's validator: other systems write this. */
  readonly isOurs?: true;
}

const of = (front: string, body = 'Do it.'): string => `---\n${front}\n---\n${body}\n`;
const good = (what: string, text: string, folder = 'notes'): SkillCase => ({
  what,
  folder,
  text,
  isGood: true,
});
const bad = (what: string, text: string, folder = 'notes'): SkillCase => ({
  what,
  folder,
  text,
  isGood: false,
});
const BASE = 'name: notes\ndescription: Writes notes';

export const SKILL_CASES: readonly SkillCase[] = [
  good('the least', of(BASE)),
  good(
    'every field',
    of(
      `${BASE}\nlicense: MIT\ncompatibility: needs git\nallowed-tools: read_file exec\nmetadata:\n  author: me\n  version: "1"`,
    ),
  ),
  good('letters of other scripts', of('name: größe-测试\ndescription: x'), 'größe-测试'),
  good('a name that is one by NFKC', of('name: ｎotes\ndescription: x')),
  good('a number as a name', of('name: 123\ndescription: 456'), '123'),
  good('a folded description', of('name: notes\ndescription: >-\n  one\n  two')),
  good('a quoted description with a colon', of(`name: notes\ndescription: "a: b"`)),
  good('comments and empty lines', of(`# hello\n\n${BASE}\n`)),
  good('lines that end with CR LF', of(BASE).replaceAll('\n', '\r\n')),
  good('no body', `---\n${BASE}\n---`),
  good('a description of 1024 characters', of(`name: notes\ndescription: ${'x'.repeat(1024)}`)),
  good('a name of 64 characters', of(`name: ${'a'.repeat(64)}\ndescription: x`), 'a'.repeat(64)),
  good('tools as a list of lines', of(`${BASE}\nallowed-tools:\n  - read_file\n  - exec`)),
  good('tools without a name', of(`${BASE}\nallowed-tools: ""`)),
  good('words such as null and true as texts', of(`name: 'null'\ndescription: true`), 'null'),
  bad('no front matter', '# Notes\n'),
  bad('an empty file', ''),
  bad('front matter without an end', `---\n${BASE}\n`),
  bad('empty front matter', '---\n---\nx'),
  bad('a list as front matter', of('- name')),
  bad('no name', of('description: x')),
  bad('an empty name', of(`name: ''\ndescription: x`)),
  bad('no description', of('name: notes')),
  bad('an empty description', of('name: notes\ndescription: "  "')),
  bad('another name than the folder', of('name: other\ndescription: x')),
  bad('upper case', of('name: Notes\ndescription: x'), 'Notes'),
  bad('an underscore', of('name: my_notes\ndescription: x'), 'my_notes'),
  bad('a space', of('name: my notes\ndescription: x'), 'my notes'),
  bad('a hyphen at the end', of('name: notes-\ndescription: x'), 'notes-'),
  bad('two hyphens', of(`name: 'a--b'\ndescription: x`), 'a--b'),
  bad('a name of 65 characters', of(`name: ${'a'.repeat(65)}\ndescription: x`), 'a'.repeat(65)),
  bad('a description of 1025 characters', of(`name: notes\ndescription: ${'x'.repeat(1025)}`)),
  bad('a compatibility of 501 characters', of(`${BASE}\ncompatibility: ${'x'.repeat(501)}`)),
  bad('a compatibility that is a mapping', of(`${BASE}\ncompatibility:\n  a: b`)),
  bad('a field of no format', of(`${BASE}\nversion: 1`)),
  bad('a name as a list', of('name:\n  - notes\ndescription: x')),
  bad('flow style', of(`${BASE}\nmetadata: {a: b}`)),
  bad('an empty flow list', of(`${BASE}\nmetadata: []`)),
  bad('an anchor', of(`name: &n notes\ndescription: x`)),
  bad('a reference', of(`name: &n notes\ndescription: *n`)),
  bad(
    'references that grow',
    of(`name: notes\ndescription: x\nmetadata:\n  a: &a [x, x]\n  b: &b [*a, *a]\n  c: [*b, *b]`),
  ),
  bad('a tag', of(`name: !!str notes\ndescription: x`)),
  bad('a key twice', of(`${BASE}\ndescription: y`)),
  bad('a colon in a plain text', of('name: notes\ndescription: a: b')),
  bad('a tab before a key', of(`name: notes\n\tdescription: x`)),
  { ...bad('tools as a flow list', of(`${BASE}\nallowed-tools: [read_file, exec]`)), isOurs: true },
  {
    ...bad('the key of other seeds', of(`${BASE}\nallowed_tools: ["claude-flow__memory_*", "read_file"]`)),
    isOurs: true,
  },
];
