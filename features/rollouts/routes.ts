/** Serves rollouts from the rows of their agents. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { hookProblems } from '#api/refuse-hooks.ts';
import { type FieldProblem, refuse } from '#api/refuse-unknown-secrets.ts';
import { changedConfig, checkModels } from '#api/routes/agents.ts';
import { serveResource } from '#api/serve-resource.ts';
import { isNumberKeys, readPage, readTextPage } from '#api/server/pages.ts';
import { findAgent } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { rollouts } from './resource.ts';
import {
  endRollout,
  findRollout,
  listRolloutChanges,
  listRollouts,
  type LockedAgent,
  type RolloutRow,
  setRollout,
  startRollout,
} from './rollout-store.ts';
import { compareRuns, type RunsRow, startOfRollout } from './runs-store.ts';
import { MAX_COMPARED, type startSchema } from './schema.ts';
import type { z } from 'zod';

/** They are of the agent and not of a turn: all sessions share them. */
const OF_ALL_SESSIONS = ['sandbox', 'budgets', 'workspace', 'visible', 'memory', 'knowledge'] as const;

const DEFAULT_DAYS = 7;

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(
    app,
    rollouts,
    {
      listRollouts: ({ db, query }) =>
        readTextPage(
          query,
          'key',
          (limit, after) => listRollouts(db, limit, after),
          (row) => show(row),
        ),
      async getRollout({ db, params }) {
        const row = await findRollout(db, params.agent);
        return row && show(row);
      },
      async startRollout({ tenant, db, by, body }) {
        const problems = await hookProblems(deps, tenant, body.change?.hooks, { place: 'body/change' });
        const { agent, share, users, sessions, abort_when: abort, reason } = body;
        const fields = { share, users, sessions, ...(abort !== undefined && { abort }) };
        const row = await startRollout(db, agent, fields, { by, reason }, (old) =>
          chosen(deps, problems, old, body),
        );
        if (!row) throw new Failure('NotFound', `There is no agent ${agent}`);
        return show(row);
      },
      async setRollout({ db, by, params, body: { number, reason, abort_when: abort, ...fields } }) {
        const row = await setRollout(
          db,
          params.agent,
          number,
          ({ abort: before, ...old }) => {
            const rule = abort === undefined ? before : (abort ?? undefined);
            const { share = old.share, users = old.users, sessions = old.sessions } = fields;
            return { ...old, share, users, sessions, ...(rule !== undefined && { abort: rule }) };
          },
          { by, reason },
        );
        return row && show(row);
      },
      async finishRollout({ db, by, params, body: { rollout, reason } }) {
        const row = await endRollout(db, params.agent, 'finish', rollout, { by, reason });
        return row && show(row, 'finished');
      },
      async putRolloutBack({ db, by, params, body: { rollout, reason } }) {
        const row = await endRollout(db, params.agent, 'back', rollout, { by, reason });
        return row && show(row, 'back');
      },
      listRolloutChanges: ({ db, params, query }) =>
        readPage(
          query,
          (limit, after) => listRolloutChanges(db, params.agent, limit, numberOf(after)),
          ({ number }) => [number],
          isNumberKeys(1),
        ),
      async compareRuns({ db, params: { agent }, query }) {
        const since =
          query.since === undefined
            ? ((await startOfRollout(db, agent)) ?? new Date(Date.now() - DEFAULT_DAYS * 86_400_000))
            : new Date(query.since);
        const rows = await compareRuns(db, agent, since);
        const turns = rows.reduce((sum, row) => sum + row.turns, 0);
        return { agent, since, partial: turns > MAX_COMPARED, revisions: rows.map(showRuns) };
      },
    },
    ({ tenant }, key) => findAgent(forTenant(deps.pool, tenant), key),
  );
}

/** The revision to roll out. @throws Failure when the change is none, or not one for some sessions only */
function chosen(
  deps: Pick<ApiDeps, 'models'>,
  problems: readonly FieldProblem[],
  agent: LockedAgent,
  { change, revision: number }: z.infer<typeof startSchema>,
): AgentConfig | number {
  if (number !== undefined) return number;
  const { revision, ...patch } = change ?? {};
  if (revision !== undefined && revision !== agent.revision)
    throw new Failure(
      'Conflict',
      `The agent has revision ${agent.revision} now, not ${revision}; read it again`,
    );
  const config = changedConfig(agent.config, patch);
  if (isDeepStrictEqual(config, agent.config))
    throw new Failure('Unprocessable', `Nothing would differ from revision ${agent.revision}`, {
      errors: [{ pointer: 'body/change', message: 'changes nothing' }],
    });
  refuseOfAll(agent.config, config);
  refuse(problems);
  checkModels(deps, config);
  return config;
}

function refuseOfAll(old: AgentConfig, config: AgentConfig): void {
  const fields = OF_ALL_SESSIONS.filter((field) => !isDeepStrictEqual(old[field], config[field]));
  if (fields.length === 0) return;
  throw new Failure(
    'Unprocessable',
    `${fields.join(', ')} of an agent are for all of its sessions, not for some: change them without a rollout (tempoclaw agents update)`,
    { errors: fields.map((field) => ({ pointer: `body/change/${field}`, message: 'is for all sessions' })) },
  );
}

function numberOf(after: readonly (string | number)[] | undefined): number | undefined {
  return after && Number(after[0]);
}

function show(
  { key, base, rollout, number }: RolloutRow,
  state: 'running' | 'finished' | 'back' = 'running',
) {
  const { id, revision, share, users, sessions, abort, by, at } = rollout;
  const whom = { share, users: [...users], sessions: [...sessions] };
  const started = { started_by: by, started_at: new Date(at) };
  return { agent: key, id, state, base, revision, ...whom, abort_when: abort ?? null, number, ...started };
}

function showRuns({ steps, seconds, ...row }: RunsRow) {
  return { ...row, steps: spread(steps), seconds: spread(seconds) };
}

function spread(values: readonly [median: number, p95: number] | null) {
  return values && { median: values[0], p95: values[1] };
}
