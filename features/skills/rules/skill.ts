/**
 * Skills: folders with a SKILL.md that explain to an agent how a kind of work is done (the open format of
 * agentskills.io).
 */

import { TREE_LIMITS } from '#domain/files/file-tree.ts';

/** The format's own limits (name, description), and ours. A name counts Unicode characters. */
export const SKILL_LIMITS = {
  name: 64,
  description: 1_024,
  compatibility: 500,
  /** Bytes of SKILL.md: more than a model reads of one result. */
  text: 131_072,
  /** Characters of its front matter. */
  frontMatter: 16_384,
  /** Globs of `allowed-tools`, and characters of one. */
  globs: 100,
  glob: 128,
  /** Limits of a folder. */
  ...TREE_LIMITS,
  /** Skills in use in one turn. */
  inUse: 20,
} as const;

export const SKILL_FILE = 'SKILL.md';
export const USE_SKILL = 'use_skill';
export const SKILL_SEARCH = 'skill_search';

export const SKILL_VISIBILITIES = ['private', 'public'] as const;
export type SkillVisibility = (typeof SKILL_VISIBILITIES)[number];

/** The source of a skill, in the order in which the first of a name counts. */
export type SkillSource = 'instance' | 'published' | 'workspace';

/** What is known of a skill without its text. */
export interface SkillFacts {
  readonly name: string;
  readonly description: string;
  /** Globs of tools; null when it names none. */
  readonly allowed: readonly string[] | null;
}

/** A skill that an agent may use. */
export interface KnownSkill extends SkillFacts {
  readonly source: SkillSource;
  /** A person has agreed to it, so its globs also add tools that agents only have if their rules name them (MC-4). */
  readonly brings: boolean;
  /** True if prompts name it. Text of others that nobody has agreed to is not named; a search finds it. */
  readonly isListed: boolean;
  /** The path of the folder, for a skill of an instance or a workspace. */
  readonly root?: string;
  /** Only for a published one. */
  readonly version?: number;
  readonly publisher?: string;
  /** The session that has published it, if nobody has agreed to it. */
  readonly session?: string | undefined;
}

/** The fields of a published skill that determine who may use it. */
export interface SkillAccess {
  readonly visibility: SkillVisibility;
  readonly grants: readonly { readonly kind: string; readonly subject: string }[];
}

export function mayUseSkill(
  { visibility, grants }: SkillAccess,
  agent: string,
  user: string | null,
): boolean {
  if (visibility === 'public') return true;
  return grants.some(({ kind, subject }) => subject === (kind === 'agent' ? agent : user));
}
