/**
 * Names of the GenAI semantic conventions of OpenTelemetry, which are still in development
 * (https://github.com/open-telemetry/semantic-conventions-genai); `tempoclaw.*` is what they have no name for.
 */
export const OPERATION = { turn: 'invoke_agent', model: 'chat', tool: 'execute_tool' } as const;

export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  tokenType: 'gen_ai.token.type',
  agent: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  conversation: 'gen_ai.conversation.id',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  error: 'error.type',
  tenant: 'tempoclaw.tenant',
  turn: 'tempoclaw.turn.id',
  turnStatus: 'tempoclaw.turn.status',
  step: 'tempoclaw.step',
  attempts: 'tempoclaw.attempts',
  verdict: 'tempoclaw.policy.verdict',
  cost: 'tempoclaw.cost.usd',
  approval: 'tempoclaw.approval.id',
  approvalStatus: 'tempoclaw.approval.status',
} as const;

export const METRIC = {
  tokens: 'gen_ai.client.token.usage',
  modelSeconds: 'gen_ai.client.operation.duration',
  turnSeconds: 'gen_ai.invoke_agent.duration',
  toolSeconds: 'gen_ai.execute_tool.duration',
  cost: 'tempoclaw.cost.usd',
} as const;
