/** Serves the revisions of agents, and the way back to one. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import { refuseInRollout } from '#domain/rollout.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { checkModels, showAgent } from '#api/routes/agents.ts';
import { serveResource } from '#api/serve-resource.ts';
import { isNumberKeys, readPage } from '#api/server/pages.ts';
import { findAgent, updateAgent } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findRevision, findRevisionBefore, listRevisions } from './revision-store.ts';
import { agentRevisions } from './revisions-resource.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(
    app,
    agentRevisions,
    {
      listAgentRevisions: ({ db, params, query }) =>
        readPage(
          query,
          (limit, after) => listRevisions(db, params.key, limit, after && Number(after[0])),
          ({ revision }) => [revision],
          isNumberKeys(1),
        ),
      getAgentRevision: ({ db, params: { key, revision } }) => findRevision(db, key, revision),
      async compareAgentRevisions({ db, params: { key, revision, other } }) {
        const [from, to] = await Promise.all([findRevision(db, key, revision), findRevision(db, key, other)]);
        return from && to && { from: revision, to: other, fields: differing(from.config, to.config) };
      },
      async putAgentBack({ db, by, params: { key }, body: { to } }) {
        const agent = await findAgent(db, key);
        if (!agent) return undefined;
        refuseInRollout(agent);
        const old = await (to === undefined
          ? findRevisionBefore(db, key, agent.revision)
          : findRevision(db, key, to));
        if (!old)
          throw new Failure(
            'Unprocessable',
            to === undefined
              ? `${key} has no revision before ${agent.revision}`
              : `${key} has no revision ${to}`,
          );
        if (isDeepStrictEqual(old.config, agent.config))
          throw new Failure('Unprocessable', `Revision ${agent.revision} is as revision ${old.revision} was`);
        checkModels(deps, old.config);
        const row = await updateAgent(db, agent.revision, old.config, by);
        if (!row) throw new Failure('Conflict', 'The agent was changed at the same moment; look again');
        return showAgent(row);
      },
    },
    ({ tenant }, key) => findAgent(forTenant(deps.pool, tenant), key),
  );
}

function differing(before: AgentConfig, after: AgentConfig) {
  const fields = [
    ...new Set([...Object.keys(before), ...Object.keys(after)]),
  ].toSorted() as (keyof AgentConfig)[];
  return fields
    .filter((field) => !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
}
