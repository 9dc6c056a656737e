/** Serves freezes from their rows. */
import { randomUUID } from 'node:crypto';
import type { Api } from '#api/deps.ts';
import { requireAgents } from '#api/require-agents.ts';
import { serveResource } from '#api/serve-resource.ts';
import { readCreatedPage } from '#api/server/pages.ts';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { freezes, MAX_FREEZES } from './resource.ts';
import { type FreezeRow, hasRevision, insertFreeze, liftFreeze, listFreezes } from './store.ts';

export function addRoutes(app: Api): void {
  serveResource(app, freezes, {
    listFreezes: ({ db, query }) =>
      readCreatedPage(query, (limit, after) => listFreezes(db, limit, after), show),
    async createFreeze({ db, by, body: { reason, agent = null, revision = null, tools = null } }) {
      await requireAgents(db, [['body/agent', agent]]);
      if (agent !== null && revision !== null && !(await hasRevision(db, agent, revision)))
        throw unknownRevision(agent, revision);
      const id = `freeze_${randomUUID()}`;
      const row = await insertFreeze(db, { id, reason, agent, revision, tools }, by);
      if (row) return show(row);
      throw new Failure(
        'Conflict',
        `There are ${MAX_FREEZES} freezes in force, which is the most; lift one first`,
      );
    },
    async liftFreeze({ db, by, params: { id } }) {
      const row = await liftFreeze(db, id, by);
      return row && show(row);
    },
  });
}

/** Such a freeze would hold nothing back, although somebody relies on it. */
function unknownRevision(agent: string, revision: number): Failure {
  return fieldFailure('Unprocessable', 'body/revision', `${agent} has no revision ${revision}`);
}

function show({ created_at, created_text: _text, lifted_at, tools, ...row }: FreezeRow) {
  return {
    ...row,
    tools: tools && [...tools],
    created_at: created_at.toISOString(),
    lifted_at: lifted_at?.toISOString() ?? null,
  };
}
