/** Serves tool hosts from their rows. */
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { Failure, limitReached } from '#domain/errors.ts';
import { HOST_LIMITS, hostQueues } from './contract.ts';
import { toolHosts } from './resource.ts';
import { deleteToolHost, findToolHost, listToolHosts, putToolHost, type ToolHostRow } from './store.ts';

export function addRoutes(app: Api, { secrets: { sealer }, tools }: ApiDeps): void {
  serveResource(app, toolHosts, {
    listToolHosts: async ({ tenant, db }) => ({
      data: (await listToolHosts(db)).map((row) => showHost(tenant, row)),
    }),
    async getToolHost({ tenant, db, params }) {
      const row = await findToolHost(db, params.name);
      return row && showHost(tenant, row);
    },
    async putToolHost({ tenant, db, by, params: { name }, body }) {
      const native = body.tools.findIndex((tool) => tools.isNative(tool.name));
      if (native >= 0)
        throw new Failure(
          'Conflict',
          `${body.tools[native]?.name} is a tool of TempoClaw's own, or its other name; choose another`,
        );
      const host = { name, sealKey: body.seal_key, tools: body.tools, hooks: body.hooks };
      const taken = await putToolHost(db, sealer, host, by);
      if (taken === 'full') throw limitReached(HOST_LIMITS.hosts, 'tool hosts');
      if (taken.length > 0) throw new Failure('Conflict', `Another tool host has ${taken.join(', ')}`);
      const row = await findToolHost(db, name);
      if (!row) throw new Failure('Conflict', 'The tool host was deleted meanwhile');
      return showHost(tenant, row);
    },
    deleteToolHost: ({ db, params }) => deleteToolHost(db, params.name),
  });
}

function showHost(tenant: string, { version, ...row }: ToolHostRow) {
  return {
    ...row,
    tools: [...row.tools],
    hooks: [...row.hooks],
    task_queues: hostQueues(tenant, row.name, version),
  };
}
