/** Serves remote agents from their rows. */
import { randomUUID } from 'node:crypto';
import { judgeUrl } from '@tempoclaw/egress/rules';
import type { Api, ApiDeps } from '#api/deps.ts';
import { refuseUnknownSecrets } from '#api/refuse-unknown-secrets.ts';
import { serveResource } from '#api/serve-resource.ts';
import { fieldFailure, limitReached } from '#domain/errors.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { remoteAgents } from './resource.ts';
import {
  deleteRemoteAgent,
  findRemoteAgent,
  listRemoteAgents,
  MAX_REMOTE_AGENTS,
  putRemoteAgent,
  type RemoteAgentRow,
} from './store.ts';
import { toolNameOf } from './remote-tool.ts';

export function addRoutes(app: Api, { pool, policy }: ApiDeps): void {
  serveResource(app, remoteAgents, {
    listRemoteAgents: async ({ db }) => ({ data: (await listRemoteAgents(db)).map(showAgent) }),
    async getRemoteAgent({ db, params }) {
      const row = await findRemoteAgent(db, params.name);
      return row && showAgent(row);
    },
    async putRemoteAgent({ tenant, db, by, params: { name }, body }) {
      const verdict = judgeUrl(body.url, await tenantEgress(pool, policy.settings.egress, tenant));
      if (verdict.decision === 'deny') throw fieldFailure('Unprocessable', 'body/url', verdict.reason);
      const { credential = null, ...fields } = body;
      await refuseUnknownSecrets(db, [['body/credential', credential]]);
      const row = await putRemoteAgent(db, { id: randomUUID(), name, credential, ...fields }, by);
      if (!row) throw limitReached(MAX_REMOTE_AGENTS, 'remote agents');
      return showAgent(row);
    },
    deleteRemoteAgent: ({ db, params }) => deleteRemoteAgent(db, params.name),
  });
}

function showAgent({ id: _id, revision: _revision, ...row }: RemoteAgentRow) {
  return { ...row, tool: toolNameOf(row.name) };
}
