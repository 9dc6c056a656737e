/**
 * Which tools a turn has while skills are in use: the tools that their globs name, among those that the rules permit
 * (MC-4).
 */
import { matchesTool, type PolicyTool } from './tool-groups.ts';

/** A skill of a turn, from the step after its use on. */
export interface SkillInUse {
  readonly name: string;
  /** Globs of tools; null when the skill has no list. */
  readonly allowed: readonly string[] | null;
  /** Its globs also add internal tools that the rules do not name (MC-4); a person has agreed to that. */
  readonly brings: boolean;
}

/** Available whatever a skill names, so that a turn can change to another skill. */
const ALWAYS = ['use_skill', 'skill_search', 'tool_search'];

/** The skill that adds an internal tool. `*` means the tools that the agent has. */
export function bringingSkill(skills: readonly SkillInUse[], tool: PolicyTool): string | undefined {
  return skills.find(
    ({ brings, allowed }) => brings && allowed?.some((glob) => glob !== '*' && matchesTool(glob, tool)),
  )?.name;
}

/** The skills that hide the tool, because they name others; undefined when none does. */
export function hidingSkills(skills: readonly SkillInUse[], tool: PolicyTool): string | undefined {
  const naming = skills.filter(({ allowed }) => allowed !== null);
  const isNamed = naming.some(({ allowed }) => allowed?.some((glob) => matchesTool(glob, tool)));
  if (naming.length === 0 || isNamed || ALWAYS.includes(tool.name)) return undefined;
  return naming.map(({ name }) => name).join(', ');
}
