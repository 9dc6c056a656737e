/** Serves agent links from their rows. */
import { randomBytes } from 'node:crypto';
import {
  type AgentLinkRow,
  deleteAgentLink,
  findAgentLink,
  insertAgentLink,
  listAgentLinks,
  updateAgentLink,
} from '#store/assignments/agent-link-store.ts';
import { Failure } from '#domain/errors.ts';
import { isRecord } from '#domain/outside-value.ts';
import { agentLinks } from '#domain/resource/agent-links.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { readTextPage } from '../server/pages.ts';
import { requireAgents } from '../require-agents.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, { pool }: ApiDeps): void {
  serveResource(
    app,
    agentLinks,
    {
      listAgentLinks: ({ db, query }) =>
        readTextPage(query, 'id', (limit, after) => listAgentLinks(db, query.agent, limit, after), showLink),
      async getAgentLink({ db, params }) {
        const row = await findAgentLink(db, params.id);
        return row && showLink(row);
      },
      async createAgentLink({ db, by, body }) {
        const id = `alk_${randomBytes(9).toString('hex')}`;
        const link = { ...body, id, description: body.description ?? null };
        const row = await insertAgentLink(db, link, by);
        if (row === 'no_agent') {
          await requireAgents(db, [
            ['body/source', link.source],
            ['body/target', link.target],
          ]);
          throw new Failure('Conflict', 'One of the agents has just changed; try again');
        }
        if (row === 'there')
          throw new Failure(
            'Conflict',
            `There is a link from ${link.source} to ${link.target} already; PATCH it to change it`,
          );
        return showLink(row);
      },
      async updateAgentLink({ db, params, body }) {
        const row = await updateAgentLink(db, params.id, body);
        return row && showLink(row);
      },
      deleteAgentLink: ({ db, params }) => deleteAgentLink(db, params.id),
    },
    ({ tenant }, id) => findAgentLink(forTenant(pool, tenant), id),
  );
}

/** Shows settings that were damaged by hand as they are, unless they are no object at all. */
function showLink(row: AgentLinkRow) {
  return { ...row, settings: isRecord(row.settings) ? row.settings : { unreadable: true } };
}
