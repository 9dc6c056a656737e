/** What decides in a what-if: the agent and the policy, whole, as they are when it begins. */
import { isDeepStrictEqual } from 'node:util';
import { changedConfig, checkModels } from '#api/routes/agents.ts';
import type { ApiDeps } from '#api/deps.ts';
import { Failure } from '#domain/errors.ts';
import type { AgentRow } from '#store/agent-store.ts';
import type { z } from 'zod';
import { WHAT_IF_FIELDS, type whatIfSchema } from '../schema.ts';
import type { ReplayChange } from '../store.ts';

/** @throws Failure Conflict; Unprocessable for a change that a replay could not show */
export function resolveChange(
  deps: Pick<ApiDeps, 'models'>,
  agent: AgentRow,
  { models, agent: patch, policy }: z.infer<typeof whatIfSchema>,
): ReplayChange {
  const change = { models, ...(policy && { policy }) };
  if (!patch) return change;
  const { revision, ...fields } = patch;
  if (revision !== undefined && revision !== agent.revision)
    throw new Failure(
      'Conflict',
      `The agent has revision ${agent.revision} now, not ${revision}; read it again`,
    );
  const config = changedConfig(agent.config, fields);
  const others = Object.keys(fields)
    .filter((field) => !(WHAT_IF_FIELDS as readonly string[]).includes(field))
    .filter((field) => !isDeepStrictEqual(fieldOf(config, field), fieldOf(agent.config, field)));
  if (others.length > 0)
    throw new Failure(
      'Unprocessable',
      `${others.join(', ')} would change nothing: no tool, hook or gate runs in a replay. Of an agent, ${WHAT_IF_FIELDS.join(', ')} can differ`,
      {
        errors: others.map((field) => ({ pointer: `body/change/agent/${field}`, message: 'has no effect' })),
      },
    );
  checkModels(deps, config);
  return { ...change, agent: config };
}

function fieldOf(config: object, field: string): unknown {
  return (config as Readonly<Record<string, unknown>>)[field];
}
