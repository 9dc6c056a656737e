/**
 * An MCP server over streamable HTTP that requires a bearer token, and the authorization server that issues it: RFC
 * 9728, 8414, 7591, PKCE (7636), resource indicators (8707), `iss` (9207), refresh tokens that work once. Its tool
 * `whoami` says whose token a call came with.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoginServer {
  readonly url: string;
  /** Host and port. */
  readonly host: string;
  /** Static tokens, as some servers issue them, and whose they are. */
  readonly keys: Map<string, string>;
  /** Requests to the authorization server, in order. */
  readonly asked: { readonly path: string; readonly form: URLSearchParams }[];
  /** Tools besides `whoami`. */
  readonly tools: object[];
  /** Each `token` that was issued, of either kind. */
  readonly given: string[];
  /** Makes the issued access tokens invalid. */
  expireAll(): void;
  /** Also makes the refresh tokens invalid. */
  revokeAll(): void;
  /** Acts as a person who agrees in a browser: resolves with the address that the browser is redirected to. */
  agree(authorizationUrl: string, person: string): Promise<URL>;
  close(): Promise<void>;
}

interface Code {
  readonly person: string;
  readonly challenge: string;
  readonly redirect: string;
  readonly client: string;
  readonly resource: string;
}

/**
 * With `readDocument`, it identifies clients by the addresses of their metadata documents, which this function reads.
 */
export async function startLoginServer(
  readDocument?: (clientId: string) => Promise<unknown>,
): Promise<LoginServer> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const origin = `http://${host}`;
  const url = `${origin}/mcp`;
  const keys = new Map<string, string>();
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const clients = new Map<string, string[]>();
  const codes = new Map<string, Code>();
  const requests: { path: string; form: URLSearchParams }[] = [];
  const tools: object[] = [];
  const values: string[] = [];

  const fresh = (): string => randomBytes(24).toString('hex');
  const json = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

  function giveTokens(response: ServerResponse, person: string): void {
    const [access_token, refresh_token] = [fresh(), fresh()];
    access.set(access_token, person);
    refresh.set(refresh_token, person);
    values.push(access_token, refresh_token);
    json(response, 200, { access_token, refresh_token, token_type: 'Bearer', expires_in: 3600 });
  }

  function token(form: URLSearchParams, response: ServerResponse): void {
    const refuse = (why: string): void =>
      json(response, 400, { error: 'invalid_grant', error_description: `${why}: ${form.toString()}` });
    if (form.get('resource') !== url) return refuse('wrong resource');
    if (!clients.has(form.get('client_id') ?? '')) return refuse('unknown client');
    if (form.get('grant_type') === 'refresh_token') {
      const old = form.get('refresh_token') ?? '';
      const person = refresh.get(old);
      refresh.delete(old);
      return person === undefined ? refuse('unknown refresh token') : giveTokens(response, person);
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verified = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== verified) return refuse('wrong verifier');
    if (code.redirect !== form.get('redirect_uri') || code.client !== form.get('client_id'))
      return refuse('another client');
    return giveTokens(response, code.person);
  }

  function rpc(body: string, person: string, response: ServerResponse): void {
    const { id, method, params } = JSON.parse(body) as {
      id?: number;
      method: string;
      params?: { protocolVersion?: string };
    };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'login', version: '1' },
      },
      'tools/list': {
        tools: [
          { name: 'whoami', description: 'Says who you are', inputSchema: { type: 'object' } },
          ...tools,
        ],
      },
      'tools/call': { content: [{ type: 'text', text: `you are ${person}` }] },
    };
    json(response, 200, { jsonrpc: '2.0', id, result: results[method] ?? {} });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', origin);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    switch (pathname) {
      case '/mcp': {
        const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
        const person = access.get(bearer) ?? keys.get(bearer);
        if (person === undefined) {
          const metadata = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
          return void response.writeHead(401, { 'www-authenticate': metadata }).end();
        }
        return request.method === 'POST' ? rpc(body, person, response) : void response.writeHead(405).end();
      }
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, 200, { resource: url, authorization_servers: [origin] });
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
          ...(readDocument && { client_id_metadata_document_supported: true }),
        });
      case '/register': {
        const client_id = fresh();
        const { redirect_uris } = JSON.parse(body) as { redirect_uris: string[] };
        clients.set(client_id, redirect_uris);
        requests.push({ path: pathname, form: new URLSearchParams() });
        return json(response, 201, { ...(JSON.parse(body) as object), client_id });
      }
      case '/token': {
        const form = new URLSearchParams(body);
        requests.push({ path: pathname, form });
        return token(form, response);
      }
      default:
        return void response.writeHead(404).end();
    }
  }

  return {
    url,
    host,
    keys,
    asked: requests,
    tools,
    given: values,
    expireAll: () => access.clear(),
    revokeAll() {
      access.clear();
      refresh.clear();
    },
    async agree(authorizationUrl, person) {
      const { searchParams: query, pathname } = new URL(authorizationUrl);
      const [client, redirect] = [query.get('client_id') ?? '', query.get('redirect_uri') ?? ''];
      if (readDocument && client.startsWith('https://')) {
        const read = (await readDocument(client)) as { client_id?: string; redirect_uris?: string[] };
        if (read.client_id === client) clients.set(client, read.redirect_uris ?? []);
      }
      if (pathname !== '/authorize' || !clients.get(client)?.includes(redirect))
        throw new Error('an unknown client');
      if (query.get('code_challenge_method') !== 'S256' || query.get('resource') !== url)
        throw new Error('a login without PKCE or resource');
      const code = fresh();
      codes.set(code, {
        person,
        client,
        redirect,
        challenge: query.get('code_challenge') ?? '',
        resource: url,
      });
      const back = new URL(redirect);
      back.search = new URLSearchParams({ code, state: query.get('state') ?? '', iss: origin }).toString();
      return back;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
