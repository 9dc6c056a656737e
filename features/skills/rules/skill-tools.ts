/** The tools that a skill names in its front matter. */
import { SKILL_LIMITS } from './skill.ts';

/** Names that skills for other programs use. */
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
 * The globs of `allowed-tools`: words separated by spaces or commas, or a list. It omits what is in parentheses
 * (`Bash(git:*)`), because rules decide what a command may do.
 */
export function readAllowedTools(values: string | readonly string[]): readonly string[] {
  const texts = typeof values === 'string' ? [values] : values;
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
