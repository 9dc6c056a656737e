/** Serves tools that are switched on and off for all agents of a tenant: names in its policy. */
import { toolSwitches } from '#domain/resource/tool-switches.ts';
import { findTenantPolicy, switchTool } from '#store/tenant-policy-store.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, { tools }: Pick<ApiDeps, 'tools'>): void {
  const find = (name: string) =>
    tools.native().find((one) => one.name === name || one.aliases.includes(name));
  /** The tool's own name, which an alias refers to. */
  const nameOf = (value: string): string => find(value)?.name ?? value;
  serveResource(
    app,
    toolSwitches,
    {
      async getToolSwitch({ db, params }) {
        const name = nameOf(params.name);
        const policy = await findTenantPolicy(db);
        return { name, enabled: !policy?.tools?.disabled?.includes(name) };
      },
      async setToolSwitch({ db, params, body: { enabled }, by }) {
        const name = nameOf(params.name);
        await switchTool(db, name, enabled, by);
        return { name, enabled };
      },
      async deleteToolSwitch({ db, params, by }) {
        await switchTool(db, nameOf(params.name), true, by);
        return true;
      },
    },
    async (_caller, name) => find(name),
  );
}
