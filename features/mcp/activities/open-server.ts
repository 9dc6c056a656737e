/** One connection to one MCP server: its process or its egress client, the handshake, and what it lists. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { registerValues, scrubText } from '@tempoclaw/scrubber';
import { tracedFetch } from '#activities/trace-scope.ts';
import { OWN_MARKS } from '#activities/process/own-names.ts';
import type { HostWall } from '@tempoclaw/sandbox';
import { cleanOutsideText } from '#domain/text/hidden-text.ts';
import { MAX_MCP_TOOLS, type McpCredentials, readMcpTool } from '../rules/server.ts';
import { fillSecretsOfUrl } from '#domain/secret.ts';
import { mapTexts } from '#domain/text/storable-text.ts';
import { findMcpCredentials, NO_CREDENTIALS } from '../store/mcp-credential-store.ts';
import { type McpServerToUse, openServerCredentials } from '../store/mcp-server-store.ts';
import type { ListedTool } from '../store/mcp-tool-store.ts';
import { WORDS, errorText } from './error-words.ts';
import {
  connectClient,
  createClient,
  hearChanges,
  listTools,
  probe,
  type ElicitationChannel,
} from './create-client.ts';
import { withinBounds } from './message-lines.ts';
import { authProviderOf, type OAuthDeps, type TokenUse } from './oauth.ts';
import { ProgramTransport } from './program-transport.ts';
import { type ServerBoxing, serverBox } from './server-box.ts';

/** `rulesOf` says where the tenant's servers may be. */
export interface OpenServerDeps extends OAuthDeps {
  /** Replaces `secret://NAME` with secrets. */
  readonly resolve: (tenant: string, text: string) => Promise<string>;
  readonly wall: Pick<HostWall, 'prefix' | 'environment'>;
  readonly boxing: ServerBoxing;
  /**
   * A program's own folder is {tenant}/{name} below it. The program works there, writes nowhere else, and finds it
   * again at its next start.
   */
  readonly folders: string;
  /** Variables of programs on this machine: PATH, HOME, LANG. */
  readonly environment: Readonly<Record<string, string>>;
  /** Identifies this worker, so that others can find what it left running. */
  readonly worker: string;
}

export interface OpenServer {
  readonly client: Client;
  /** Calls that are running over it. */
  readonly talks: Set<ElicitationChannel>;
  /** @throws what a request does, as the next two do. */
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  /** Whether it reports changes of its list from now on; `onEnd` is called when it stops. */
  hearChanges(onEnd: () => void): Promise<boolean>;
  /** Resolves when it is there. */
  probe(): Promise<void>;
  /** Whether a request was refused because the server has ended its session. */
  readonly isForgotten: (error: unknown) => boolean;
  /** Removes the values that the server got, and characters that people do not see. */
  readonly hide: (text: string) => string;
  end(): Promise<void>;
}

export interface LiveServer extends OpenServer {
  /** Hashes by the server's name of each tool, as last listed. */
  readonly hashes: ReadonlyMap<string, string>;
}

export interface ServerEvents {
  readonly onClosed: () => void;
  readonly onToolsChanged: () => void;
}

/** Bytes of one answer over HTTP, most of which may be cut (message-lines.ts). */
const STREAM_BYTES = 1024 * 1024 * 1024;
/** How long an open stream may be silent. */
const SILENT_MS = 300_000;
/** Wait for a server's answer to a check. */
const PROBE_MS = 10_000;
/** The last tokens of a connection, which must be hidden. */
const KEPT_TOKENS = 8;

/** Throws what went wrong, in words that contain none of the values that the server got. */
export async function openServer(
  deps: OpenServerDeps,
  server: McpServerToUse,
  received: ServerEvents,
  /** `user` is whose credentials it uses; empty means the server's own. `signal` aborts when it takes too long. */
  {
    mode,
    user,
    signal,
  }: { readonly mode: 'auto' | 'legacy'; readonly user: string; readonly signal: AbortSignal },
): Promise<OpenServer> {
  const credentials = await openCredentials(deps, server, user);
  const items = [...Object.values(credentials.env), ...Object.values(credentials.headers)];
  let values = registerValues(items);
  // The text is cleaned first, because invisible characters may be within a secret.
  const hide = (text: string): string => scrubText(cleanOutsideText(text), values).text;
  // Previous tokens may still come back in an answer.
  const tokens: string[] = [];
  const login: LogIn = (fetchFn) =>
    authProviderOf(deps, server, user, fetchFn, (learned) => {
      tokens.splice(0, tokens.length, ...[...tokens, ...learned].slice(-KEPT_TOKENS));
      values = registerValues([...items, ...tokens]);
    });
  const way = await wayTo(deps, server, credentials, login);
  const { client, talks } = createClient(received.onToolsChanged, server.config.sampling);
  const end = async (): Promise<void> => {
    client.onclose = undefined;
    // The next worker finds whatever it leaves running.
    await client.close().catch(() => undefined);
    await way.end().catch(() => undefined);
  };
  const problem = await Promise.race([connectClient(client, way.transport, mode), rejectedBy(signal)]).then(
    () => undefined,
    (error: unknown) => errorText(error, hide),
  );
  if (problem !== undefined) {
    await end();
    const last = hide(way.lastWords()).slice(-WORDS);
    throw new Error(last === '' ? problem : `${problem}; its last words: ${last}`);
  }
  client.onclose = received.onClosed;
  return {
    client,
    talks,
    hide,
    end,
    list: async (until) => listed(await listTools(client, { signal: until }), hide),
    hearChanges: (onEnd) => hearChanges(client, onEnd),
    probe: () => probe(client, { timeout: PROBE_MS }),
    isForgotten: (error) =>
      error instanceof SdkHttpError && error.status === 404 && way.transport.sessionId !== undefined,
  };
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new Error('it did not answer in time'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** The first of each name; what exceeds limits is omitted. */
function listed(tools: readonly unknown[], hide: OpenServer['hide']): readonly ListedTool[] {
  const found = new Map<string, ListedTool>();
  for (const tool of tools) {
    const read = readMcpTool(tool);
    if (!read || found.has(read.name) || found.size >= MAX_MCP_TOOLS) continue;
    const definition = { ...mapTexts(read, hide), name: read.name };
    const hash = createHash('sha256').update(canonical(definition)).digest('hex');
    found.set(definition.name, { definition, hash });
  }
  return [...found.values()];
}

/** A server that lists its fields in another order has changed nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

async function openCredentials(
  deps: OpenServerDeps,
  server: McpServerToUse,
  user: string,
): Promise<McpCredentials> {
  const { sealer, resolve } = deps;
  const { tenant, id } = server;
  // These are not resolved: a user's reference would reveal a secret of the tenant.
  if (user !== '')
    return (await findMcpCredentials(deps, { tenant, server: id, user }))?.kept ?? NO_CREDENTIALS;
  const { env, headers } = openServerCredentials(sealer, tenant, server);
  const opened = async (from: McpCredentials['env']): Promise<Record<string, string>> => {
    const values: Record<string, string> = {};
    for (const [name, value] of Object.entries(from)) values[name] = await resolve(tenant, value);
    return values;
  };
  return { env: await opened(env), headers: await opened(headers) };
}

type LogIn = (fetchFn: typeof fetch) => TokenUse;

interface Way {
  readonly transport: Transport;
  readonly lastWords: () => string;
  readonly end: () => Promise<void>;
}

async function wayTo(
  deps: OpenServerDeps,
  server: McpServerToUse,
  credentials: McpCredentials,
  login: LogIn,
): Promise<Way> {
  return server.config.transport === 'stdio'
    ? processWay(deps, server, credentials)
    : httpWay(deps, server, credentials, login);
}

/**
 * Starts the program in its box, or behind the wall of commands. Of the worker's environment, it only gets where
 * programs are.
 */
async function processWay(
  { wall, boxing, environment, worker, folders }: OpenServerDeps,
  { tenant, id, name, config }: McpServerToUse,
  { env }: McpCredentials,
): Promise<Way> {
  const mark = `mcp/${tenant}/${id}/${randomUUID()}`;
  const program = [config.command, ...config.args];
  const box = config.box ? await serverBox(boxing, tenant, program, Object.keys(env)) : undefined;
  const folder = box ? undefined : join(folders, tenant, name);
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = folder === undefined ? [] : [folder];
  const { PATH = '', HOME = '/', LANG = 'C.UTF-8' } = environment;
  const transport = new ProgramTransport({
    command: box?.command ?? [...wall.prefix(own), ...program],
    env: {
      PATH,
      HOME,
      LANG,
      ...(box ? {} : wall.environment(own)),
      ...env,
      [OWN_MARKS.worker]: worker,
      [OWN_MARKS.call]: mark,
    },
    cwd: folder ?? tmpdir(),
    mark: `${OWN_MARKS.call}=${mark}`,
  });
  return {
    transport,
    lastWords: () => transport.lastWords,
    end: async () => {
      await transport.close();
      await box?.end();
    },
  };
}

/** True for the check every 30 seconds whether a server is alive: a row for each would hide the others. */
function isLook(init: RequestInit | undefined): boolean {
  const body = init?.body;
  if (typeof body !== 'string' || body.length > LOOK_CHARS) return false;
  const { method } = JSON.parse(body) as { readonly method?: unknown };
  return method === 'ping' || method === 'server/discover';
}
const LOOK_CHARS = 2_000;

async function httpWay(
  { egress, rulesOf, resolve }: OpenServerDeps,
  { tenant, config }: McpServerToUse,
  { headers }: McpCredentials,
  login: LogIn,
): Promise<Way> {
  const egressClient = egress.open({
    labels: { tenant, purpose: 'mcp' },
    rules: await rulesOf(tenant),
    // The client follows redirects to the same origin, and to no other.
    limits: { redirects: 0, bytes: STREAM_BYTES, totalMs: undefined, idleMs: SILENT_MS },
    isRoutine: isLook,
  });
  const authProvider = login(egressClient.fetch);
  const options = {
    fetch: withinBounds(tracedFetch(authProvider.fetch)),
    requestInit: { headers },
    authProvider,
  };
  const url = new URL(await fillSecretsOfUrl(config.url, (reference) => resolve(tenant, reference)));
  const transport =
    config.transport === 'sse'
      ? new SSEClientTransport(url, {
          ...options,
          eventSourceInit: {
            fetch: (request, init) =>
              withinBounds(egressClient.fetch)(request, {
                ...init,
                headers: { ...headers, ...(init.headers as Record<string, string>) },
              } as RequestInit),
          },
        })
      : new StreamableHTTPClientTransport(url, options);
  return { transport, lastWords: () => '', end: () => egressClient.close() };
}
