/** Which tools a turn has while skills are in use: those that their globs name, of those that the rules leave (MC-4). */
import { matchesTool, type PolicyTool } from '#domain/policy/tool-groups.ts';
import { SKILL_LIMITS, SKILL_SEARCH, type SkillInUse, USE_SKILL } from './skill.ts';

/** There whatever a skill names, so that a turn can go on to another. */
const ALWAYS = [USE_SKILL, SKILL_SEARCH, 'tool_search'];

/** Names that skills written for other programs use. */
const OTHER_NAMES: Readonly<Record<string, string | undefined>> = {
  Bash: 'exec',
  Read: 'read_file',
  Write: 'write_file',
  Edit: 'edit',
  Glob: 'glob',
  Grep: 'search',
  LS: 'list_files',
  WebFetch: 'web_fetch',
  WebSearch: 'web_search',
};

/**
 * The globs of `allowed-tools`: words with spaces or commas between them, or a list. What stands in parentheses (`Bash(git:*)`) is left out:
 * what a command may do is the rules' to say.
 */
export function readAllowedTools(given: string | readonly string[]): readonly string[] {
  const texts = typeof given === 'string' ? [given] : given;
  const words = texts.flatMap((text) => text.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? []);
  const globs = words.map((word) => {
    const name = word.replace(/\(.*$/s, '');
    return Object.hasOwn(OTHER_NAMES, name) ? (OTHER_NAMES[name] ?? name) : name;
  });
  return [...new Set(globs)];
}

export function allowedToolsProblem(globs: readonly string[]): string | undefined {
  if (globs.length > SKILL_LIMITS.globs) return `names more than ${SKILL_LIMITS.globs} tools`;
  const long = globs.find((glob) => glob.length > SKILL_LIMITS.glob);
  return long === undefined ? undefined : `has a name of more than ${SKILL_LIMITS.glob} characters`;
}

/** The skill that brings in a tool which is there for nobody else. `*` means what the agent has. */
export function bringingSkill(skills: readonly SkillInUse[], tool: PolicyTool): string | undefined {
  return skills.find(
    ({ brings, allowed }) => brings && allowed?.some((glob) => glob !== '*' && matchesTool(glob, tool)),
  )?.name;
}

/** The skills that hide the tool, since they name others; undefined when none does. */
export function hidingSkills(skills: readonly SkillInUse[], tool: PolicyTool): string | undefined {
  const naming = skills.filter(({ allowed }) => allowed !== null);
  const isNamed = naming.some(({ allowed }) => allowed?.some((glob) => matchesTool(glob, tool)));
  if (naming.length === 0 || isNamed || ALWAYS.includes(tool.name)) return undefined;
  return naming.map(({ name }) => name).join(', ');
}
