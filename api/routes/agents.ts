/** Serves agents from their rows, and checks their models. */
import type { z } from 'zod';
import {
  type AgentRow,
  deleteAgent,
  findAgent,
  insertAgent,
  listAgents,
  updateAgent,
} from '#store/agent-store.ts';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import { agents } from '#domain/resource/agents.ts';
import { refuseInRollout } from '#domain/rollout.ts';
import { agentConfigSchema, type agentPatchSchema } from '#domain/schema/agent.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { readTextPage } from '../server/pages.ts';
import { hookWarnings, warningsOf } from '../policy-warnings.ts';
import { refuseHooks } from '../refuse-hooks.ts';
import { serveResource } from '../serve-resource.ts';
import { MAIN_AGENT } from '../tenant-defaults.ts';

/** Two writers may change the same agent at once. The loser tries again, but not forever. */
const PATCH_TRIES = 5;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const showWhole = async (tenant: string, row: AgentRow) => ({
    ...showAgent(row),
    warnings: [
      ...(await hookWarnings(deps, tenant, row.config.hooks)),
      ...(await warningsOf(deps, tenant, row.config.tools, row.config.key)),
    ],
  });

  serveResource(
    app,
    agents,
    {
      listAgents: ({ db, query }) =>
        readTextPage(query, 'key', (limit, after) => listAgents(db, limit, after), showAgent),
      async getAgent({ tenant, db, params }) {
        const row = await findAgent(db, params.key);
        return row && showWhole(tenant, row);
      },
      async createAgent({ tenant, db, by, body }) {
        const config = toConfig(body);
        checkModels(deps, config);
        await refuseHooks(deps, tenant, config.hooks);
        const row = await insertAgent(db, config, by);
        if (row) return showWhole(tenant, row);
        throw new Failure('Conflict', `There is an agent ${config.key} already; PATCH it to change it`);
      },
      async updateAgent({ tenant, db, by, params, body: { revision, ...body } }) {
        await refuseHooks(deps, tenant, body.hooks);
        for (let tries = 1; tries <= PATCH_TRIES; tries += 1) {
          const old = await findAgent(db, params.key);
          if (!old) return undefined;
          if (revision !== undefined && revision !== old.revision)
            throw new Failure(
              'Conflict',
              `The agent has revision ${old.revision} now, not ${revision}; read it again`,
            );
          refuseInRollout(old);
          const config = changedConfig(old.config, body);
          checkModels(deps, config);
          const row = await updateAgent(db, old.revision, config, by);
          if (row) return showWhole(tenant, row);
        }
        throw new Failure('Conflict', 'The agent is being changed by others at the same time; try again');
      },
      async deleteAgent({ db, params: { key } }) {
        if (key === MAIN_AGENT)
          throw new Failure(
            'Conflict',
            'The agent main cannot be deleted: sessions without an agent are its; PATCH it',
          );
        if (await deleteAgent(db, key)) return true;
        const old = await findAgent(db, key);
        if (old) refuseInRollout(old);
        return false;
      },
    },
    ({ tenant }, key) => findAgent(forTenant(pool, tenant), key),
  );
}

export function checkModels(deps: Pick<ApiDeps, 'models'>, config: AgentConfig): void {
  const named = { 'body/model': config.model, 'body/knowledge/model': config.knowledge?.model ?? [] };
  const errors = Object.entries(named).flatMap(([place, refs]) =>
    [refs].flat().flatMap((ref, at) => {
      const problem = deps.models.problem(ref);
      const pointer = typeof refs === 'string' ? place : `${place}/${at}`;
      return problem === undefined ? [] : [{ pointer, message: problem }];
    }),
  );
  if (errors[0]) throw new Failure('Unprocessable', errors[0].message, { errors });
}

/** VF-5: shared files are not lost when each user gets their own folder; that folder begins as a copy. */
function keepFiles(old: AgentConfig, config: AgentConfig): AgentConfig {
  const { workspace } = config;
  const before = typeof old.workspace === 'string' ? { scope: 'shared', name: old.workspace } : old.workspace;
  if (before?.scope !== 'shared' || typeof workspace === 'string' || workspace?.from !== undefined)
    return config;
  const { scope = 'user' } = workspace ?? {};
  if (scope !== 'user' && scope !== 'session') return config;
  return { ...config, workspace: { scope, from: before.name ?? old.key } };
}

/** The settings after a change, of which given fields replace the old ones whole. */
export function changedConfig(
  old: AgentConfig,
  patch: Omit<z.infer<typeof agentPatchSchema>, 'revision'>,
): AgentConfig {
  return keepFiles(old, merge(old, patch));
}

function merge(old: AgentConfig, patch: Omit<z.infer<typeof agentPatchSchema>, 'revision'>): AgentConfig {
  const merged = Object.entries({ ...old, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return toConfig(agentConfigSchema.parse(Object.fromEntries(merged)));
}

/** Removes fields that are present but undefined, as JSON does. */
export function toConfig(body: z.infer<typeof agentConfigSchema>): AgentConfig {
  return JSON.parse(JSON.stringify(body)) as AgentConfig;
}

/** The row as answers have it. */
export function showAgent({ config, rollout: _rollout, ...row }: AgentRow) {
  return { ...row, ...agentConfigSchema.parse(config) };
}
