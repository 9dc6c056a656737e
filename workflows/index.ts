/** The core's workflows: each export is a workflow type, and its name a public contract. */
export { agentTurn } from './agent-turn.ts';
export { approval } from './approval.ts';
export { delegation, subagent } from './assignment.ts';
export { awaitSubagents } from './await-subagents.ts';
export { forget } from './forget.ts';
export { sweep } from './sweep.ts';
export { teamTask } from './team-task.ts';
export { wait } from './wait.ts';
