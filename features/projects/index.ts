/** Exports what other features may use of this one. */
export { isProject, openFolder } from './open-folder.ts';
export { printPlan } from './commands/deploy.ts';
export { type Change, planProject } from './plan.ts';
export type { ProjectAgent, ProjectSchedule, ProjectSkill } from './read-project.ts';
export { templateOf } from './template.ts';
