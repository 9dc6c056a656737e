/**
 * The tools of each agent: the native ones and those that its tenant has added (CU-1, MC-1); an agent's own shadows the
 * tenant's. They are cached by the version of the tenant's tools, which every step reads with its other rows. So no
 * step needs a query for tools that have not changed, and none runs with old ones, whether or not a notice arrived.
 */
import type { AddedToolsModule, Feature } from '#domain/feature.ts';
import type { Catalog } from './catalog.ts';
import type { Tool } from './define-tool.ts';
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import { readToolsVersion } from '#store/turns/tools-version.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface AgentCatalogs {
  /** `version` comes from a row that was just read; without it the database is queried. */
  of(tenant: string, agent: string, version?: number): Promise<Catalog>;
}

export function loadToolSources(
  features: readonly Pick<Feature, 'addedTools'>[],
): Promise<readonly AddedToolsModule[]> {
  return Promise.all(features.flatMap(({ addedTools }) => addedTools?.() ?? []));
}

/** Number of tenants whose tools are cached; the one that was read first is dropped. */
const MAX_TENANTS = 1_000;

interface TenantTools {
  readonly version: number;
  /** Tools of all agents. */
  readonly shared: readonly Tool[];
  readonly own: ReadonlyMap<string, readonly Tool[]>;
  readonly catalogs: Map<string, Catalog>;
}

export function createAgentCatalogs({
  pool,
  catalog,
  sources,
  changes,
  onError,
}: {
  readonly pool: Pool;
  /** The native tools. */
  readonly catalog: Catalog;
  /** Sources of the tools that tenants add; of two tools with one name the first wins. */
  readonly sources: readonly AddedToolsModule[];
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  /** Receives a definition that cannot be used, so that it does not affect other tools. */
  readonly onError: (error: unknown) => void;
}): AgentCatalogs {
  const known = new Map<string, TenantTools>();
  const reading = new Map<string, Promise<TenantTools>>();

  async function read(tenant: string): Promise<TenantTools> {
    const db = forTenant(pool, tenant);
    // The version is read before the tools: tools that change meanwhile are read once more.
    const version = await readToolsVersion(db);
    const added = (await Promise.all(sources.map((one) => one.listAddedTools(db, onError)))).flat();
    const shared = added.flatMap(({ agent, tool }) => (agent === null ? [tool] : []));
    const own = new Map<string, Tool[]>();
    for (const { agent, tool } of added)
      if (agent !== null) own.set(agent, [...(own.get(agent) ?? []), tool]);
    const tools: TenantTools = { version, shared, own, catalogs: new Map() };
    known.delete(tenant);
    known.set(tenant, tools);
    const oldest = known.size > MAX_TENANTS ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return tools;
  }

  async function ofVersion(tenant: string, version: number): Promise<TenantTools> {
    const tools = known.get(tenant);
    if (tools && tools.version >= version) return tools;
    // One reading at a time; another caller's may have started before this version existed.
    const others = await reading.get(tenant);
    if (others && others.version >= version) return others;
    const own = reading.get(tenant) ?? read(tenant).finally(() => reading.delete(tenant));
    reading.set(tenant, own);
    return own;
  }

  // The next step would find out by itself; this only reads the tools in advance.
  changes.subscribe('custom_tools', (changed) => {
    const tenants = changed === undefined ? [...known.keys()] : known.has(changed) ? [changed] : [];
    for (const tenant of tenants)
      readToolsVersion(forTenant(pool, tenant))
        .then((version) => ofVersion(tenant, version))
        .catch(onError);
  });

  return {
    async of(tenant, agent, value) {
      const version = value ?? (await readToolsVersion(forTenant(pool, tenant)));
      if (version === 0) return catalog;
      return catalogOf(await ofVersion(tenant, version), agent, catalog);
    },
  };
}

function catalogOf({ shared, own, catalogs }: TenantTools, agent: string, native: Catalog): Catalog {
  const ours = own.get(agent);
  const name = ours ? agent : '';
  const known = catalogs.get(name);
  if (known) return known;
  const shadowed = new Set(ours?.map((tool) => tool.name));
  const made = native.with([...shared.filter((tool) => !shadowed.has(tool.name)), ...(ours ?? [])]);
  catalogs.set(name, made);
  return made;
}
