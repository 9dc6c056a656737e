/** Skills: folders with a SKILL.md that tell an agent how a kind of work is done (the open format of agentskills.io). */

import { TREE_LIMITS } from '#domain/file-tree.ts';

/** The format's own (name, description), and ours. A name counts Unicode characters. */
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
  /** Of a folder. */
  ...TREE_LIMITS,
  /** In use in one turn. */
  inUse: 20,
} as const;

export const SKILL_FILE = 'SKILL.md';
export const USE_SKILL = 'use_skill';
export const SKILL_SEARCH = 'skill_search';

export const SKILL_VISIBILITIES = ['private', 'public'] as const;
export type SkillVisibility = (typeof SKILL_VISIBILITIES)[number];

/** Where a skill is from, in the order in which the first of a name counts. */
export type SkillSource = 'instance' | 'published' | 'workspace';

/** What is known of a skill without its text. */
export interface SkillFacts {
  readonly name: string;
  readonly description: string;
  /** Globs of tools; null when it does not say. */
  readonly allowed: readonly string[] | null;
}

/** A skill that an agent may use. */
export interface KnownSkill extends SkillFacts {
  readonly source: SkillSource;
  /** Its globs also bring in tools that nobody has whose rules do not name them (MC-4): a person has agreed to it. */
  readonly brings: boolean;
  /** Named in prompts. Not so are words of others that nobody has agreed to: they are found by who looks for them. */
  readonly isListed: boolean;
  /** Of an instance's or a workspace's: where its folder is. */
  readonly root?: string;
  /** Of a published one. */
  readonly version?: number;
  readonly publisher?: string;
  /** The session that has published it, where nobody has agreed to it. */
  readonly session?: string | undefined;
}

/** A published skill as it is found out who may use it. */
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
