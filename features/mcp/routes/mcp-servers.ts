/** Serves MCP servers from their rows, with sealed credentials; workers connect to them (activities/mcp/). */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, limitReached } from '#domain/errors.ts';
import { serverProblems } from '../rules/check-server.ts';
import {
  type McpCredentials,
  type McpServerConfig,
  mcpBaseName,
  mcpToolName,
  splitServer,
} from '../rules/server.ts';
import { exportedServer } from '../rules/export-server.ts';
import { mcpServers } from '../resource/mcp-servers.ts';
import { findMcpCredentials } from '../store/mcp-credential-store.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import {
  askForCheck,
  deleteMcpServer,
  findMcpServer,
  insertMcpServer,
  isChecked,
  listMcpServers,
  MAX_MCP_SERVERS,
  mcpServerPlace,
  type McpServerRow,
  openServerCredentials,
  updateMcpServer,
} from '../store/mcp-server-store.ts';
import { consentToTools, listMcpTools, type McpToolRow } from '../store/mcp-tool-store.ts';
import type { Caller } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { type Referring, referringIn, refuseUnknownSecrets } from '#api/refuse-unknown-secrets.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/** How long a caller waits for a worker's check. */
const LOOK_MS = 20_000;
const LOOK_EVERY_MS = 200;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const show = async (tenant: string, row: McpServerRow) =>
    showServer(deps, tenant, row, await listMcpTools(forTenant(pool, tenant), row.id));
  const probe = async ({ tenant, user }: Caller, name: string, fresh: boolean) => {
    const row = await findMcpServer(forTenant(pool, tenant), name);
    if (!row) return undefined;
    if (!row.config.enabled) throw new Failure('Conflict', `${name} is switched off; set enabled first`);
    // The check uses the caller's own credentials, if there are any; those of other users are not the caller's to use.
    const isOwn =
      row.config.credentials === 'per_user' &&
      user !== null &&
      (await findMcpCredentials({ pool, sealer: deps.secrets.sealer }, { tenant, server: row.id, user }));
    await awaitCheck(deps, tenant, row.id, fresh, isOwn ? user : null);
    const now = await findMcpServer(forTenant(pool, tenant), name);
    return now && show(tenant, now);
  };

  serveResource(
    app,
    mcpServers,
    {
      async listMcpServers({ tenant, db }) {
        const [rows, tools] = await Promise.all([listMcpServers(db), listMcpTools(db)]);
        const ofServer = Map.groupBy(tools, (tool) => tool.server_id);
        return { data: rows.map((row) => showServer(deps, tenant, row, ofServer.get(row.id) ?? [])) };
      },
      async exportMcpServers({ tenant, db }) {
        const rows = await listMcpServers(db);
        return {
          mcpServers: Object.fromEntries(
            rows.map((row) => [
              row.name,
              exportedServer(row, openServerCredentials(deps.secrets.sealer, tenant, row)),
            ]),
          ),
        };
      },
      async getMcpServer({ tenant, db, params }) {
        const row = await findMcpServer(db, params.name);
        return row && show(tenant, row);
      },
      async createMcpServer({ tenant, db, by, body }) {
        const { name, ...changes } = body;
        const { config, credentials } = splitServer(changes);
        await refuseUnknownSecrets(db, referencesOf({ ...credentials, url: config.url }));
        const written = await toWrite(deps, tenant, { id: randomUUID(), name, config, by }, credentials);
        const row = await insertMcpServer(db, written);
        if (row === 'full') throw limitReached(MAX_MCP_SERVERS, 'MCP servers');
        if (row === 'taken') throw taken(written);
        return show(tenant, row);
      },
      async updateMcpServer({ tenant, db, by, params, body: { env, headers, ...changes } }) {
        const old = await findMcpServer(db, params.name);
        if (!old) return undefined;
        refuseOfSettings(old);
        // What the other fields refer to may be gone since.
        await refuseUnknownSecrets(db, referencesOf({ env, headers, url: changes.url }));
        const set = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
        const config: McpServerConfig = { ...old.config, ...set };
        const before = openServerCredentials(deps.secrets.sealer, tenant, old);
        const now = { env: env ?? before.env, headers: headers ?? before.headers };
        const written = await toWrite(deps, tenant, { id: old.id, name: old.name, config, by }, now);
        const row = await updateMcpServer(db, written, old.revision);
        if (row === 'taken') throw taken(written);
        if (row === 'stale')
          throw new Failure(
            'Conflict',
            `${old.name} was changed by somebody else at the same time; try again`,
          );
        return show(tenant, row);
      },
      async deleteMcpServer({ db, params }) {
        const row = await findMcpServer(db, params.name);
        if (!row) return false;
        refuseOfSettings(row);
        return deleteMcpServer(db, params.name);
      },
      testMcpServer: ({ caller, params }) => probe(caller, params.name, false),
      reconnectMcpServer: ({ caller, params }) => probe(caller, params.name, true),
      async consentToMcpTools({ tenant, db, params, body }) {
        const row = await findMcpServer(db, params.name);
        if (!row) return undefined;
        await consentToTools(db, row.id, body.tools);
        return show(tenant, row);
      },
    },
    ({ tenant }, name) => findMcpServer(forTenant(pool, tenant), name),
  );
}

function referencesOf({
  env,
  headers,
  url,
}: Partial<McpCredentials> & { readonly url?: string | undefined }): Referring {
  return [['body/url', url], ...referringIn('body/env', env), ...referringIn('body/headers', headers)];
}

/** Requests a check from the workers, and waits for the first. */
async function awaitCheck(
  { pool }: ApiDeps,
  tenant: string,
  id: string,
  fresh: boolean,
  user: string | null,
): Promise<void> {
  const db = forTenant(pool, tenant);
  const requested = await askForCheck(db, id, fresh, user);
  if (requested === undefined) return;
  for (const until = Date.now() + LOOK_MS; Date.now() < until; await pause(LOOK_EVERY_MS))
    if (await isChecked(db, id, requested)) return;
}

interface Fields {
  readonly id: string;
  readonly name: string;
  readonly config: McpServerConfig;
  readonly by: string;
}

/** The next start would restore it from the file. */
function refuseOfSettings({ name, origin }: McpServerRow): void {
  if (origin === 'settings')
    throw new Failure(
      'Conflict',
      `${name} stands in the settings file, under mcp.servers; change it there and start the API anew`,
    );
}

/** @throws Failure Unprocessable for what must not be connected to. */
async function toWrite(deps: ApiDeps, tenant: string, fields: Fields, credentials: McpCredentials) {
  const { sealer } = deps.secrets;
  const rules = await tenantEgress(deps.pool, deps.policy.settings.egress, tenant);
  const errors = serverProblems(fields.config, rules).map(({ field, message }) => ({
    pointer: `body/${field}`,
    message,
  }));
  if (errors[0]) throw new Failure('Unprocessable', `${errors[0].pointer}: ${errors[0].message}`, { errors });
  return {
    ...fields,
    base: mcpBaseName(fields.config.tool_prefix, fields.name),
    sealed: sealer.seal(JSON.stringify(credentials), mcpServerPlace(tenant, fields.id)),
    keyId: sealer.keyId,
  };
}

function taken({ name, base }: { readonly name: string; readonly base: string }): Failure {
  return new Failure(
    'Conflict',
    `There is an MCP server ${name} already, or one whose tools are named ${base}__… as well; choose another name or tool_prefix`,
  );
}

function showServer(deps: ApiDeps, tenant: string, row: McpServerRow, tools: readonly McpToolRow[]) {
  const { env, headers } = openServerCredentials(deps.secrets.sealer, tenant, row);
  return {
    ...row,
    ...row.config,
    env_names: Object.keys(env),
    header_names: Object.keys(headers),
    status: row.config.enabled ? row.status : ('disabled' as const),
    tools: tools.map((tool) => showTool(row.base, tool)),
  };
}

function showTool(base: string, tool: McpToolRow) {
  const { name, pinned, found, pinned_hash, found_hash } = tool;
  const isChanged = found_hash !== null && found_hash !== pinned_hash;
  return {
    name,
    tool: mcpToolName(base, name),
    description: (found ?? pinned)?.description ?? '',
    enabled: found_hash !== null && !isChanged,
    pinned_hash,
    ...(isChanged && { changed: true as const, found_hash }),
    ...(found_hash === null && { gone: true as const }),
  };
}
