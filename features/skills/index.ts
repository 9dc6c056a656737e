/** Exports what other features may use of this one. */
export { readFolder, type SkillFile } from './read-folder.ts';
export { readPublished } from './policy/read-published.ts';
export {
  findSkill,
  grantSkill,
  listSkills,
  publishSkill,
  readSkillFiles,
  type SkillToPublish,
} from './store.ts';
