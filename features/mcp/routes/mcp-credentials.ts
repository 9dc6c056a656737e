/**
 * Serves users' own credentials for MCP servers, and logins: sealed rows, and the page to which an authorization server
 * redirects.
 */
import type { FastifyRequest } from 'fastify';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { MCP_LOGIN_PATHS, mcpClientId, mcpClientMetadata, mcpRedirectUrl } from '../contract/mcp-login.ts';
import { mcpCredentials } from '../resource/mcp-credentials.ts';
import {
  changeMcpCredentials,
  deleteMcpCredentials,
  findMcpCredentials,
  type McpOwner,
} from '../store/mcp-credential-store.ts';
import {
  askForCheck,
  findMcpServer,
  type McpServerRow,
  openServerCredentials,
} from '../store/mcp-server-store.ts';
import { confirmPage, noticePage } from '#api/server/html-page.ts';
import { type Caller, requireOwnUser, requireScope } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { addPage } from '#api/server/page-routes.ts';
import { serveResource } from '#api/serve-resource.ts';
import { waitingLogins } from '#store/approvals/approval-logins.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { refuseFrozen } from '#store/tenant-freeze.ts';
import { endLogins } from '#temporal/end-logins.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool, settings, mcpLogins } = deps;
  const kept = { pool, sealer: deps.secrets.sealer };
  const show = async (owner: McpOwner) => {
    const row = await findMcpCredentials(kept, owner);
    return (
      row && {
        user: owner.user,
        env_names: Object.keys(row.kept.env),
        header_names: Object.keys(row.kept.headers),
        logged_in: row.kept.oauth !== undefined,
        given_at: row.given_at,
      }
    );
  };
  const find = ({ tenant }: Caller, name: string) => findMcpServer(forTenant(pool, tenant), name);
  const ownedBy = async (caller: Caller, name: string, user: string | undefined) => {
    const server = await find(caller, name);
    return server && { server, owner: ownerOf(caller, server, user) };
  };

  /** `server` is its name. */
  const goOn = async ({ tenant, server, user }: McpOwner): Promise<void> => {
    const waiting = await waitingLogins(forTenant(pool, tenant), { login: 'mcp', server, user });
    // The login is there whatever happens now, and the sweep decides what could not be reached.
    await endLogins({ pool, reach: deps.temporal }, waiting).catch(() => undefined);
  };

  serveResource(
    app,
    mcpCredentials,
    {
      async getMcpUserCredentials({ caller, params, query }) {
        const found = await ownedBy(caller, params.name, query.user);
        return found && show(found.owner);
      },
      async setMcpUserCredentials({ caller, params, query, body }) {
        const found = await ownedBy(caller, params.name, query.user);
        if (!found) return undefined;
        const { server, owner } = found;
        if (owner.user === '')
          throw new Failure(
            'Conflict',
            `${server.name} has one set of credentials for all: its env and headers`,
          );
        const named = Object.keys(openServerCredentials(kept.sealer, caller.tenant, server).env);
        const other = Object.keys(body.env).find((name) => !named.includes(name));
        // A variable may change what a program does, so an admin decides which variables there are.
        if (other !== undefined)
          throw new Failure(
            'Unprocessable',
            `body/env/${other}: ${server.name} takes ${named.join(', ') || 'no variables'}; an admin names others in its env`,
          );
        await changeMcpCredentials(kept, owner, (before) => ({ ...before, ...body }), {
          seen: server.config,
          isNew: true,
        });
        // The first user's connection shows which tools there are.
        if (server.status !== 'ready')
          await askForCheck(forTenant(pool, owner.tenant), server.id, false, owner.user);
        await goOn({ ...owner, server: server.name });
        return show(owner);
      },
      async deleteMcpUserCredentials({ caller, params, query }) {
        const found = await ownedBy(caller, params.name, query.user);
        return found !== undefined && deleteMcpCredentials(pool, found.owner);
      },
      async startMcpLogin({ caller, params, query, request }) {
        const found = await ownedBy(caller, params.name, query.user);
        if (!found) return undefined;
        const { tenant, user } = found.owner;
        const base = settings.publicUrl ?? `${request.protocol}://${request.host}`;
        const { url, expiresAt } = await mcpLogins.begin({ tenant, server: found.server.name, user }, base);
        return { authorization_url: url, expires_at: expiresAt };
      },
    },
    find,
  );

  addClientMetadata(app, settings.publicUrl);
  addPage(app, {
    path: MCP_LOGIN_PATHS.callback,
    async show(request) {
      const { state } = answerOf(request);
      const login = await mcpLogins.find(state);
      if (!login) throw new Failure('NotFound', NO_LOGIN);
      // The starter of the login gets the access, so the person who agrees must know who that is.
      const words = `TempoClaw then uses ${login.server} with your account there, ${whose(login)}. Go on only if you have begun this login yourself.`;
      return confirmPage(`Log in at ${login.server}?`, words, 'Log in');
    },
    async submit(request) {
      const answer = answerOf(request);
      const pending = await mcpLogins.find(answer.state);
      if (pending) await refuseFrozen(forTenant(pool, pending.tenant));
      const login = await mcpLogins.finish(answer);
      if (!login) throw new Failure('NotFound', NO_LOGIN);
      await goOn(login);
      return noticePage(
        'Logged in',
        `TempoClaw can use ${login.server} now, ${whose(login)}. You may close this page.`,
      );
    },
  });
}

/** What authorization servers read about us in place of a registration. */
function addClientMetadata(app: Api, publicUrl: string | undefined): void {
  app.get(
    MCP_LOGIN_PATHS.metadata,
    { config: { scope: 'public' }, schema: { hide: true } },
    (_request, reply) => {
      const client_id = mcpClientId(publicUrl);
      if (publicUrl === undefined || client_id === undefined)
        throw new Failure('NotFound', 'There is no client metadata without api.publicUrl, an https address');
      return reply.send({
        client_id,
        client_uri: publicUrl,
        ...mcpClientMetadata(mcpRedirectUrl(publicUrl)),
      });
    },
  );
}

/** Whose credentials the caller may change. @throws Failure Forbidden, Unprocessable */
function ownerOf(caller: Caller, { id, config }: McpServerRow, named: string | undefined): McpOwner {
  const { tenant } = caller;
  if (config.credentials === 'shared') {
    requireScope(caller, 'admin');
    return { tenant, server: id, user: '' };
  }
  const user = named ?? caller.user;
  if (user === null) throw fieldFailure('Unprocessable', 'query/user', 'say whose; the key has no user');
  requireOwnUser(caller, user, 'credentials');
  return { tenant, server: id, user };
}

const NO_LOGIN =
  'This login was used, has expired, or was never begun. Begin it anew: tempoclaw mcp login NAME';

function whose({ tenant, user }: McpOwner): string {
  return user === '' ? `for all agents of ${tenant}` : `for the user ${user} of ${tenant}`;
}

const MAX = 4_096;

/** @throws Failure InvalidInput for what no authorization server sends. */
function answerOf({ query }: FastifyRequest) {
  const { state, code, iss, error } = query as Readonly<Record<string, unknown>>;
  if (error !== undefined)
    throw new Failure(
      'Unprocessable',
      'The authorization server has refused the login. Nothing was changed.',
    );
  const isText = (text: unknown): text is string =>
    typeof text === 'string' && text !== '' && text.length <= MAX;
  if (!isText(state) || !isText(code) || (iss !== undefined && !isText(iss)))
    throw new Failure('InvalidInput', 'The address has no state and code of a login');
  return { state, code, iss };
}
