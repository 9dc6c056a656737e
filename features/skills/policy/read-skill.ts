/**
 * Reads a SKILL.md in the open format (agentskills.io; `skills-ref` of PyPI is its validator): front matter of plain
 * YAML, then instructions. Besides the format's `allowed-tools`, it accepts the key `allowed_tools` and lists.
 */
import { type Document, isCollection, isMap, isNode, parseDocument, visit } from 'yaml';
import { SKILL_LIMITS, type SkillFacts } from '../rules/skill.ts';
import { allowedToolsProblem, readAllowedTools } from '../rules/skill-tools.ts';

export type ReadSkill =
  | { readonly ok: true; readonly skill: SkillFacts; readonly body: string }
  | { readonly ok: false; readonly problems: readonly string[] };

const FIELDS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];
/** Keys of clawft and others. */
const TOOL_FIELDS = ['allowed-tools', 'allowed_tools'];

/** `folder` is the name of the folder that contains it, which must be the skill's name. */
export function readSkill(text: string, folder: string): ReadSkill {
  const parts = splitText(text.replace(/^\uFEFF/, ''));
  if (typeof parts === 'string') return { ok: false, problems: [parts] };
  const fields = readFields(parts.front);
  if (typeof fields === 'string') return { ok: false, problems: [fields] };
  const problems = [...fieldProblems(fields), ...nameProblems(fields['name'], folder)];
  const allowed = allowedOf(fields);
  if (typeof allowed === 'string') problems.push(allowed);
  if (problems.length > 0) return { ok: false, problems };
  const [name, description] = [fields['name'], fields['description']].map((value) => String(value).trim());
  const skill = {
    name: (name ?? '').normalize('NFKC'),
    description: description ?? '',
    allowed: typeof allowed === 'string' ? null : allowed,
  };
  return { ok: true, skill, body: parts.body };
}

type Fields = Readonly<Record<string, unknown>>;

/** Works as the validator does: the second `---` ends the front matter wherever it is. */
function splitText(text: string): { readonly front: string; readonly body: string } | string {
  if (!text.startsWith('---')) return 'must begin with front matter, between two lines of ---';
  const end = text.indexOf('---', 3);
  if (end < 0) return 'has front matter without an end; write --- below it';
  if (end > SKILL_LIMITS.frontMatter)
    return `has front matter of more than ${SKILL_LIMITS.frontMatter} characters`;
  return { front: text.slice(3, end), body: text.slice(end + 3).trim() };
}

/**
 * All values as texts. Returns words for what is no plain YAML: references (which can grow without end), tags, flow
 * style, repeated keys.
 */
function readFields(front: string): Fields | string {
  try {
    const document = parseDocument(front, { schema: 'failsafe', uniqueKeys: true, logLevel: 'silent' });
    const [error] = [...document.errors, ...document.warnings];
    if (error) return `has front matter that is no YAML: ${error.message.split('\n', 1)[0]}`;
    const problem = beyondPlain(document);
    if (problem !== undefined) return `has front matter with ${problem}`;
    return isMap(document.contents) ? (document.toJS() as Fields) : 'has front matter that is no mapping';
  } catch (error) {
    // For example, the nesting is too deep for the stack.
    return `has front matter that cannot be read: ${error instanceof Error ? error.message : 'no YAML'}`;
  }
}

function beyondPlain(document: Document): string | undefined {
  let problem: string | undefined;
  visit(document, {
    Alias: () => {
      problem = 'a reference (*); write the value out';
      return visit.BREAK;
    },
    Node(_key, node, path) {
      const isToolList = path.some((step) => 'key' in step && TOOL_FIELDS.includes(String(step.key)));
      if (isNode(node) && 'anchor' in node && node.anchor) problem = 'an anchor (&)';
      else if (isNode(node) && node.tag !== undefined) problem = 'a tag (!)';
      else if (isCollection(node) && node.flow && !isToolList)
        problem = 'flow style ({} or []); write it in lines';
      return problem === undefined ? undefined : visit.BREAK;
    },
  });
  return problem;
}

function fieldProblems(fields: Fields): string[] {
  const problems: string[] = [];
  const unknown = Object.keys(fields).filter((key) => !FIELDS.includes(key) && !TOOL_FIELDS.includes(key));
  if (unknown.length > 0)
    problems.push(`has fields that are none of the format: ${unknown.join(', ')}; put them below metadata`);
  const { description, compatibility } = fields;
  if (!isText(description)) problems.push('needs a description');
  else if ([...description].length > SKILL_LIMITS.description)
    problems.push(`has a description of more than ${SKILL_LIMITS.description} characters`);
  if (compatibility !== undefined && typeof compatibility !== 'string')
    problems.push('has a compatibility that is no text');
  else if ([...(compatibility ?? '')].length > SKILL_LIMITS.compatibility)
    problems.push(`has a compatibility of more than ${SKILL_LIMITS.compatibility} characters`);
  return problems;
}

function nameProblems(value: unknown, folder: string): string[] {
  if (!isText(value)) return ['needs a name'];
  const name = value.trim().normalize('NFKC');
  const problems: string[] = [];
  if ([...name].length > SKILL_LIMITS.name)
    problems.push(`has a name of more than ${SKILL_LIMITS.name} characters`);
  if (name !== name.toLowerCase() || !/^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u.test(name))
    problems.push('has a name that is not lower-case letters and digits with single hyphens between them');
  if (name !== folder.normalize('NFKC'))
    problems.push(`is named ${name}, while its folder is named ${folder}`);
  return problems;
}

/** Null when it is absent; words when it is invalid. */
function allowedOf(fields: Fields): readonly string[] | null | string {
  const text = fields['allowed-tools'] ?? fields['allowed_tools'];
  if (text === undefined) return null;
  const isList = Array.isArray(text) && text.every((one) => typeof one === 'string');
  if (typeof text !== 'string' && !isList)
    return 'has allowed-tools that are neither words nor a list of words';
  const globs = readAllowedTools(text as string | string[]);
  const problem = allowedToolsProblem(globs);
  if (problem !== undefined) return `has allowed-tools that cannot be: it ${problem}`;
  // The key without a name means nothing.
  return globs.length > 0 ? globs : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
