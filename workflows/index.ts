/** The bundle's entry: each export is a workflow type, and its name a public contract. */
export { agentTurn } from './agent-turn.ts';
export { approval } from './approval.ts';
export { delegation, subagent } from './assignment.ts';
export { awaitSubagents } from './await-subagents.ts';
export { evaluateLoop } from './evaluate-loop.ts';
export { forget } from './forget.ts';
export { indexDocument } from '#features/memory/workflow.ts';
export { scheduledMessage } from '#features/schedules/workflow.ts';
export { sweep } from './sweep.ts';
export { teamTask } from './team-task.ts';
export { wait } from './wait.ts';
export { webhookDelivery } from '#features/webhooks-out/workflow.ts';
