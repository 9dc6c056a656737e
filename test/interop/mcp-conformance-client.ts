/**
 * The worker's client of MCP servers as a program that the conformance suite drives. It connects to the address that it
 * gets, lists the tools and calls each once. It answers a server's questions with the contents of their forms.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { createEgress } from '#activities/egress/create-egress.ts';
import { resumeCall } from '#features/mcp/activities/resume-call.ts';
import { openServer } from '#features/mcp/activities/open-server.ts';
import { createBubblewrap, withoutWall } from '@tempoclaw/sandbox';
import { boxesAt } from '#test/support/container-engine.ts';
import type { FormAnswer, PendingExternalCall } from '#domain/turn/pending-call.ts';
import type { McpToolDefinition } from '#features/mcp/rules/server.ts';
import { isRecord } from '#domain/outside-value.ts';
import { createSealer } from '#store/seal.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { mcpServerPlace } from '#features/mcp/store/mcp-server-store.ts';

/** Has no rows, because the suite's servers need no login. */
function withoutLogins(): Pool {
  const nothing = { rows: [], rowCount: 0, command: 'SELECT' };
  const connection = { query: async () => nothing, release: () => undefined };
  return { totalCount: 0, connect: async () => connection } as unknown as Pool;
}

const url = process.argv.at(-1) ?? '';
const sealer = createSealer([randomBytes(32)]);
const id = randomUUID();
const now = new Date();

const live = await openServer(
  {
    egress: createEgress({
      resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
      record: async () => undefined,
    }),
    rulesOf: async () => ({ internalHosts: [new URL(url).host] }),
    sealer,
    pool: withoutLogins(),
    resolve: async (_tenant, text) => text,
    wall: withoutWall(),
    folders: join(tmpdir(), 'tempoclaw-test-mcp-servers'),
    boxing: { boxes: boxesAt('unix:///nonesuch'), bubblewrap: createBubblewrap([]), sandbox: {} },
    environment: {},
    worker: 'of nobody',
  },
  {
    id,
    tenant: 'test',
    name: 'conformance',
    base: 'mcp_conformance',
    config: {
      transport: 'streamable-http',
      command: '',
      args: [],
      url,
      enabled: true,
      tool_prefix: '',
      timeout_sec: 20,
      internal_only: false,
      require_grant: false,
      trust_hints: false,
      sampling: false,
      box: false,
      replay: {},
      credentials: 'shared',
    },
    sealed: sealer.seal(JSON.stringify({ env: {}, headers: {} }), mcpServerPlace('test', id)),
    revision: 1,
    status: 'connecting',
    error: null,
    origin: 'api',
    updated_by: 'test',
    created_at: now,
    updated_at: now,
  },
  { onClosed: () => undefined, onToolsChanged: () => undefined },
  { mode: 'auto', user: '', signal: AbortSignal.timeout(60_000) },
);

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}
/** The suite's names of what to call, if it specifies any. */
const { toolCalls = [] } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;

/** Otherwise what a model might write: something of each type. */
function argumentsOf({ schema }: McpToolDefinition): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const values: Readonly<Record<string, unknown>> = { number: 5, integer: 3, boolean: true, string: 'text' };
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      isRecord(field) ? (values[String(field['type'])] ?? {}) : {},
    ]),
  );
}

async function call(definition: McpToolDefinition): Promise<void> {
  const message = toolCalls.find(({ name }) => name === definition.name);
  const args = message?.arguments ?? argumentsOf(definition);
  let remaining: PendingExternalCall | undefined;
  let answer: FormAnswer | undefined;
  for (;;) {
    const result = await resumeCall({
      key: definition.name,
      server: 'conformance',
      maySample: false,
      begins: { name: definition.name, definition, args, onprogress: () => undefined },
      check: () => undefined,
      use: (work) => work({ ...live, hashes: new Map() }),
      held,
      outside: {
        left: remaining,
        isAgain: false,
        isStopped: false,
        answer,
        async keep(kept) {
          remaining = kept;
        },
        sample: () => Promise.reject(new Error('not offered')),
        isSampling: false,
      },
      signal: new AbortController().signal,
      mayRepeat: true,
      limitMs: 20_000,
      progress: () => undefined,
      show: (shown) => ({ ok: true, text: JSON.stringify(shown) }),
      onSent: () => undefined,
    });
    if (!result.ok || result.pending === undefined) return;
    if ('later' in result.pending) continue;
    ({ left: remaining } = result.pending);
    answer = { status: 'approved' };
  }
}

const held = new Map();
// The suite judges a call that the server refuses.
for (const { definition } of await live.list(AbortSignal.timeout(60_000)))
  await call(definition).catch(() => undefined);
await live.end();
process.exit(0);
