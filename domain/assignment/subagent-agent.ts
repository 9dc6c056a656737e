/** The agent of a subagent: its parent's agent, with the subagent's model and limits. */
import type { AgentConfig } from '../agent.ts';
import { DEFAULT_ITERATIONS } from '../agent.ts';
import type { SubagentContext } from './subagent.ts';
import { lesserThinking } from '../model/thinking.ts';
import type { MessageContext } from '../turn/turn.ts';

/** The agent for a turn: a subagent and the start of a turn may set another model. */
export function agentOfTurn(
  agent: AgentConfig,
  { subagent, overrides }: Pick<MessageContext, 'subagent' | 'overrides'>,
): AgentConfig {
  const model = overrides?.model;
  return asSubagent(model === undefined ? agent : { ...agent, model }, subagent);
}

/** Returns the agent itself when the turn does not belong to a subagent. Limits can only be reduced. */
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
