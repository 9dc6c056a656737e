/** Which tools a turn has while skills are in use: those that their globs name, of those that the rules leave (MC-4). */
import { matchesTool, type PolicyTool } from './tool-groups.ts';

/** A skill as a turn has it, from the step after its use on. */
export interface SkillInUse {
  readonly name: string;
  /** Globs of tools; null when it does not say. */
  readonly allowed: readonly string[] | null;
  /** Its globs also bring in tools that nobody has whose rules do not name them (MC-4): a person has agreed to it. */
  readonly brings: boolean;
}

/** There whatever a skill names, so that a turn can go on to another. */
const ALWAYS = ['use_skill', 'skill_search', 'tool_search'];

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
