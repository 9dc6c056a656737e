/** Serves tools that are switched on and off for all agents of a tenant: names in its policy. */
import { toolSwitches } from '#domain/resource/tool-switches.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTenantPolicy, switchTool } from '#store/tenant-policy-store.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, { pool, tools }: Pick<ApiDeps, 'pool' | 'tools'>): void {
  const find = (name: string) =>
    tools.native().find((one) => one.name === name || one.aliases.includes(name));
  /** The tool's own name, which an alias refers to. */
  const nameOf = (value: string): string => find(value)?.name ?? value;
  serveResource(
    app,
    toolSwitches,
    {
      async getToolSwitch({ tenant, params }) {
        const name = nameOf(params.name);
        const policy = await findTenantPolicy(forTenant(pool, tenant));
        return { name, enabled: !policy?.tools?.disabled?.includes(name) };
      },
      async setToolSwitch({ tenant, params, body: { enabled }, by }) {
        const name = nameOf(params.name);
        await switchTool(forTenant(pool, tenant), name, enabled, by);
        return { name, enabled };
      },
      async deleteToolSwitch({ tenant, params, by }) {
        await switchTool(forTenant(pool, tenant), nameOf(params.name), true, by);
        return true;
      },
    },
    async (_caller, name) => find(name),
  );
}
