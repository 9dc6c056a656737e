/** Serves custom tools from their rows: they are checked, and their variables are sealed. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { catalogedTool } from '../policy/custom-tool.ts';
import { readArguments } from '#policy/read-arguments.ts';
import { findAgent } from '#store/agent-store.ts';
import {
  type CustomToolRow,
  deleteCustomTool,
  findCustomTool,
  insertCustomTool,
  listCustomTools,
  MAX_CUSTOM_TOOLS,
  type ToolToWrite,
  updateCustomTool,
} from '../store.ts';
import { findTenantPolicy } from '#store/tenant-policy-store.ts';
import { Failure, limitReached } from '#domain/errors.ts';
import { customTools } from '../resource.ts';
import type { customToolTestSchema, customToolVerdictSchema } from '../schema.ts';
import { changedTool, checkTool, isSameTool, sealEnv, requiredTexts } from './custom-tool-definition.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { referringIn, refuseUnknownSecrets } from '#api/refuse-unknown-secrets.ts';
import { type Call, serveResource } from '#api/serve-resource.ts';
import { MAIN_AGENT } from '#api/tenant-defaults.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

type Change = Call<(typeof customTools.operations)['updateCustomTool']>;

/** Two writers may change the same tool at once. The loser tries again, but not forever. */
const CHANGE_TRIES = 5;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const change = async (call: Change) => {
    const row = await changeTool(deps, call);
    return row && { ...row, status: 'updated' as const };
  };

  serveResource(app, customTools, {
    async listCustomTools({ db, query: { agent_id: agent, ...filter } }) {
      const { tools, total } = await listCustomTools(db, { agent, ...filter });
      return { tools, total, limit: filter.limit, offset: filter.offset };
    },
    async getCustomTool({ db, params }) {
      const row = await findCustomTool(db, params.id);
      return row;
    },
    async createCustomTool({ tenant, db, by, body }) {
      const { env, parameters = requiredTexts(body.command), ...fields } = body;
      const tool: ToolToWrite = {
        ...fields,
        id: randomUUID(),
        parameters,
        env_names: Object.keys(env ?? {}),
      };
      await checkTool(deps, tenant, tool);
      await refuseUnknownSecrets(db, referringIn('body/env', env));
      const sealed = { ...tool, env: sealEnv(deps, tenant, tool.id, env) };
      const row = await insertCustomTool(db, sealed, by);
      if (row === 'taken') throw taken(tool.name);
      if (row === 'full') throw limitReached(MAX_CUSTOM_TOOLS, 'custom tools');
      return row;
    },
    updateCustomTool: change,
    putCustomTool: change,
    async deleteCustomTool({ db, params }) {
      const isGone = await deleteCustomTool(db, params.id);
      return isGone ? { status: 'deleted' as const } : undefined;
    },
    async testCustomTool({ tenant, db, params, body }) {
      const row = await findCustomTool(db, params.id);
      return row && judgeTool(deps, tenant, row, body);
    },
  });
}

async function changeTool(
  deps: ApiDeps,
  { tenant, db, params, body: { env, ...changes } }: Change,
): Promise<CustomToolRow | undefined> {
  for (let tries = 1; tries <= CHANGE_TRIES; tries += 1) {
    const old = await findCustomTool(db, params.id);
    if (!old) return undefined;
    const tool = changedTool(old, changes, env);
    if (isSameTool(old, tool, env)) return old;
    await checkTool(deps, tenant, tool);
    await refuseUnknownSecrets(db, referringIn('body/env', env));
    const change = env === undefined ? tool : { ...tool, env: sealEnv(deps, tenant, tool.id, env) };
    const row = await updateCustomTool(db, change, old.revision);
    if (row === 'taken') throw taken(tool.name);
    if (row !== 'stale') return row;
  }
  throw new Failure('Conflict', 'The tool is being changed by others at the same time; try again');
}

/** Renders and judges a call; runs nothing. */
async function judgeTool(
  deps: ApiDeps,
  tenant: string,
  row: CustomToolRow,
  request: z.infer<typeof customToolTestSchema>,
): Promise<z.infer<typeof customToolVerdictSchema>> {
  const db = forTenant(deps.pool, tenant);
  const key = request.agent_id ?? row.agent_id ?? MAIN_AGENT;
  const agent = await findAgent(db, key);
  if (!agent) throw new Failure('NotFound', `There is no agent ${key}`);
  const tool = catalogedTool(row);
  const read = readArguments(tool, undefined, request.args);
  if (!read.ok)
    return { command: null, decision: 'deny', step: 'arguments', rule: null, reason: read.message };
  const verdict = deps.rules.judge({
    agent: agent.config,
    tenant_policy: await findTenantPolicy(db),
    context: {},
    user: null,
    tool,
    args: read.args,
    allowlist: [],
    used: {},
  });
  return {
    command: tool.summary?.(read.input) ?? null,
    decision: verdict.verdict,
    step: verdict.step,
    rule: verdict.rule,
    reason: verdict.verdict === 'allow' ? 'it would run without asking' : verdict.reason,
  };
}

function taken(name: string): Failure {
  return new Failure(
    'Conflict',
    `There is a custom tool ${name} already, for the same agent or for all; PUT it`,
  );
}
