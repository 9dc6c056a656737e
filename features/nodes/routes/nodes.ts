/**
 * Serves nodes: people invite and revoke them, a code joins them, and a WebSocket connects them, whose credential is
 * the node's token.
 */
import { createHash, randomInt, randomUUID } from 'node:crypto';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Failure, limitReached } from '#domain/errors.ts';
import { NODE_LIMITS, NODE_SEAL, nodeQueue, offeredCapabilities } from '../contract/node.ts';
import { deriveSealKey } from '#domain/payload-seal.ts';
import { NODE_JOIN, nodes } from '../resource.ts';
import { nodeGreetedSchema, nodeHelloSchema } from '../schema.ts';
import { listInvocations } from '../store/node-invocation-store.ts';
import {
  connectNode,
  deleteNode,
  findNode,
  findNodeByToken,
  inviteNode,
  joinNode,
  listNodes,
  type NodeRow,
  renameNode,
} from '../store/node-store.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { createNodeHub } from './node-hub.ts';
import { problems } from '#api/server/openapi.ts';
import { isTimeKeys, readPage } from '#api/server/pages.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { refuseFrozen } from '#store/tenant-freeze.ts';

/** Letters that do not look like a digit or another letter. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CODE = /^([A-HJ-NP-Z2-9]{6})-([A-HJ-NP-Z2-9]{10})$/;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool, settings } = deps;
  serveResource(
    app,
    nodes,
    {
      listNodes: async ({ db }) => ({ data: (await listNodes(db)).map(show) }),
      async getNode({ db, params }) {
        const row = await findNode(db, params.name);
        return row && show(row);
      },
      async inviteNode({ db, by, body: { name, capabilities = null }, request }) {
        const [codeId, secret] = [letters(6), letters(10)];
        const invite = { id: randomUUID(), name, allowed: capabilities, codeId, codeHash: hashOf(secret) };
        const made = await inviteNode(db, invite, by);
        if (made === 'taken')
          throw new Failure('Conflict', `${name} has joined; delete it first, or take another name`);
        if (made === 'full') throw limitReached(NODE_LIMITS.nodes, 'nodes');
        const url = settings.publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`;
        return { name, code: `${codeId}-${secret}`, expires_at: made.code_expires_at, url };
      },
      async renameNode({ db, params, body }) {
        const row = await renameNode(db, params.name, body.name);
        if (row === 'taken') throw new Failure('Conflict', `There is a node ${body.name} already`);
        return row === 'missing' ? undefined : show(row);
      },
      deleteNode: ({ db, params }) => deleteNode(db, params.name),
      listNodeInvocations: ({ db, caller, params, query }) => {
        if (caller.confinedTo !== null)
          throw new Failure('Forbidden', 'A key of one user does not see what others have asked');
        return readPage(
          query,
          (limit, after) =>
            listInvocations(db, params.name, limit, after && [String(after[0]), String(after[1])]),
          ({ time, id }) => [time, id],
          isTimeKeys,
        );
      },
    },
    ({ tenant }, name) => findNode(forTenant(pool, tenant), name),
  );
  addJoining(app, deps);
  addConnecting(app, deps);
}

function addJoining(app: Api, { pool, secrets }: Pick<ApiDeps, 'pool' | 'secrets'>): void {
  app.post(
    NODE_JOIN.path,
    {
      config: { scope: 'public' },
      schema: {
        tags: [nodes.tag],
        operationId: 'joinNode',
        summary: 'Join as a node',
        description:
          'With a pairing code in place of a key. The same code with the same token may be sent again.',
        body: NODE_JOIN.body,
        response: { 200: NODE_JOIN.answer, ...problems('Unauthorized') },
      },
    },
    async ({ body: { code, token } }) => {
      const [, id, secret] = CODE.exec(code.toUpperCase()) ?? [];
      const request = { hash: hashOf(token), key: await deriveSealKey(token, NODE_SEAL) };
      const name =
        id && secret && (await joinNode(pool, secrets.sealer, { id, hash: hashOf(secret) }, request));
      if (!name) throw new Failure('Unauthorized', 'The pairing code is wrong, was used or has expired');
      return { name };
    },
  );
}

interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

function addConnecting(app: Api, deps: Pick<ApiDeps, 'pool' | 'secrets'>): void {
  const hub = createNodeHub(deps, (err) => app.log.warn({ err }, 'a node could not be served'));
  app.addHook('preClose', () => hub.close());
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  // It goes through all handlers of a request, so that the same checks and refusals apply.
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    upgrades.set(request, { socket, head });
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.end());
    app.routing(request, response);
  });
  app.post(
    HELLO,
    {
      config: { scope: 'public' },
      schema: {
        hide: true,
        operationId: 'greetNode',
        body: nodeHelloSchema,
        response: { 200: nodeGreetedSchema },
      },
    },
    async ({ headers, body: { run, ...about } }) => {
      const { tenant_id: tenant, id } = await nodeOf(deps.pool, headers.authorization);
      const task_queue = nodeQueue(tenant, id);
      if (!(await connectNode(forTenant(deps.pool, tenant), id, run, { ...about, task_queue })))
        throw unknownToken();
      return { task_queue };
    },
  );
  app.get(
    CONNECT,
    { config: { scope: 'public' }, schema: { hide: true, operationId: 'connectNode' } },
    async (request, reply) => {
      const upgrade = upgrades.get(request.raw);
      const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
      if (!upgrade || !isWebSocket)
        throw new Failure('InvalidInput', 'Connect by WebSocket, with the node’s token as Bearer');
      const node = await nodeOf(deps.pool, request.headers.authorization);
      reply.hijack();
      reply.raw.detachSocket(upgrade.socket);
      hub.server.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) =>
        hub.add({ tenant: node.tenant_id, id: node.id }, socket),
      );
      return reply;
    },
  );
}

const CONNECT = '/v1/nodes/connect';
const HELLO = '/v1/nodes/hello';

async function nodeOf(pool: ApiDeps['pool'], authorization: string | undefined) {
  const token = /^bearer +(tcn_\w+) *$/i.exec(authorization ?? '')?.[1];
  const node = token && (await findNodeByToken(pool, hashOf(token)));
  if (!node) throw unknownToken();
  await refuseFrozen(forTenant(pool, node.tenant_id));
  return node;
}

const unknownToken = () => new Failure('Unauthorized', 'The node’s token is not known, or was revoked');

function letters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** The secret is too random to be guessed, so that no salt is needed. */
function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function show(row: NodeRow) {
  const { about, allowed, joined, connected } = row;
  return {
    ...row,
    state: joined ? (connected ? ('connected' as const) : ('away' as const)) : ('invited' as const),
    capabilities: offeredCapabilities(about, allowed),
    platform: about?.platform,
    version: about?.version,
  };
}
