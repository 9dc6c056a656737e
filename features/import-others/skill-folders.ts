/** Reads folders of skills, and brings their SKILL.md to the open format. */
import { parseDocument, stringify } from 'yaml';
import { type Fields, isRecord } from '#domain/outside-value.ts';
import { readFolder } from '#features/skills/index.ts';
import { type Findings, HOLDS_SECRET, holdsSecret } from './findings.ts';
import type { SourceFolder } from './source-folder.ts';

/** The fields of the format; others go below `metadata`. */
const FIELDS = new Set(['license', 'compatibility', 'metadata', 'allowed-tools']);
/** Files of exports that are no part of a skill. */
const BESIDES = new Set(['metadata.json', 'grants.jsonl', 'skill.json', 'prompt.md']);

/** Adds the skill of a folder under the name. */
export async function addSkill(
  findings: Findings,
  source: SourceFolder,
  folder: string,
  name: string,
): Promise<void> {
  const what = `skill ${name}`;
  if (findings.skills.some((skill) => skill.name === name)) return;
  const known = source.object(`${folder}/metadata.json`) ?? source.object(`${folder}/skill.json`) ?? {};
  const text = source.text(`${folder}/SKILL.md`) ?? source.text(`${folder}/prompt.md`);
  if (text === undefined) {
    findings.remarks.push({ what, why: `${folder} has no SKILL.md` });
    return;
  }
  const all = await readFolder(source.at(folder));
  const others = all.filter(({ path }) => path !== 'SKILL.md' && !BESIDES.has(path));
  const content = Buffer.from(skillText(text, name, known)).toString('base64');
  const files = [{ path: 'SKILL.md', content }, ...others];
  if (files.some((file) => holdsSecret(Buffer.from(file.content, 'base64').toString('utf8'))))
    findings.remarks.push({ what, why: HOLDS_SECRET });
  else findings.skills.push({ name, files });
}

/** `known` is what a file beside it says; the front matter has precedence. */
function skillText(text: string, name: string, known: Fields): string {
  const [, front = '', body = text] = /^\uFEFF?---\r?\n([^]*?)\r?\n---\r?\n?([^]*)$/.exec(text) ?? [];
  const read: unknown = parseDocument(front, { logLevel: 'silent' }).toJS({ maxAliasCount: 100 });
  const fields: Fields = { ...known, ...(isRecord(read) ? read : {}) };
  const { name: _name, description, allowed_tools, 'allowed-tools': tools = allowed_tools, ...rest } = fields;
  const own = Object.entries(rest).filter(([field]) => FIELDS.has(field));
  const more = Object.entries(rest).filter(([field]) => !FIELDS.has(field) && !OF_ROWS.has(field));
  const metadata = {
    ...(isRecord(rest['metadata']) ? rest['metadata'] : {}),
    ...Object.fromEntries(more.map(([field, value]) => [field, wordsOf(value)])),
  };
  const allowed = wordsOf(tools ?? '');
  const output = {
    name,
    description: String(description ?? `The skill ${name}`),
    ...Object.fromEntries(own),
    ...(allowed !== '' && { 'allowed-tools': allowed }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  return `---\n${stringify(output)}---\n${body}`;
}

/** Fields of rows, which say nothing of the skill itself. */
const OF_ROWS = new Set(['id', 'slug', 'visibility']);

function wordsOf(value: unknown): string {
  return Array.isArray(value)
    ? value.join(' ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}
