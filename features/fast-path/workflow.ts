/** Turns whose steps run within the workflow task where that is faster; it replaces the workflow of the core. */
import { createAgentTurn } from '#workflows/agent-turn.ts';
import { createInlineSteps } from './inline-steps.ts';

export const agentTurn = createAgentTurn(createInlineSteps);
