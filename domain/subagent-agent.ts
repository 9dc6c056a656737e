/** The agent that a subagent is: its parent's, with the model and the limits of its own. */
import type { AgentConfig } from './agent.ts';
import { DEFAULT_ITERATIONS } from './agent.ts';
import type { SubagentContext } from './subagent.ts';
import { lesserThinking } from './thinking.ts';
import type { MessageContext } from './turn.ts';

/** The agent as a turn has it: a subagent, and what begins a turn, may have another model. */
export function agentOfTurn(
  agent: AgentConfig,
  { subagent, overrides }: Pick<MessageContext, 'subagent' | 'overrides'>,
): AgentConfig {
  const model = overrides?.model;
  return asSubagent(model === undefined ? agent : { ...agent, model }, subagent);
}

/** The agent itself when the turn is no subagent's. Limits only narrow. */
export function asSubagent(agent: AgentConfig, subagent: SubagentContext | undefined): AgentConfig {
  if (!subagent) return agent;
  const thinking = lesserThinking(agent.thinking, subagent.thinking);
  const own = agent.limits?.iterations ?? DEFAULT_ITERATIONS;
  return {
    ...agent,
    model: subagent.model ?? agent.model,
    thinking,
    limits: { ...agent.limits, iterations: Math.min(own, subagent.iterations ?? own) },
    instructions: [agent.instructions, WORDS].filter(Boolean).join('\n\n'),
  };
}

const WORDS =
  'You are a subagent: another agent gave you this task and waits for the result, and you see nothing of its conversation. Do the task and nothing beside it. Your last answer is what it gets: make it complete, with what you found, what you did and what is left open.';
