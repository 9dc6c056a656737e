/** Builds the HTTP app. Its parts are in the order in which a request passes them. */
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type { IncomingMessage } from 'node:http';
import fastify, { type FastifyReply, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { SOURCE_ENDING } from '#domain/source-ending.ts';
import { Failure } from '#domain/errors.ts';
import { readTraceparent } from '#domain/turn/trace.ts';
import {
  callerOfKey,
  createAuthenticator,
  requireScope,
  requireThawed,
  type RouteAuthenticator,
} from './auth.ts';
import { type IsPage, recognizePages } from './browser-pages.ts';
import { allowOrigins } from './cors.ts';
import type { Api, ApiDeps, RouteModule } from '../deps.ts';
import { drainOnClose } from './drain.ts';
import { serveErrorPage } from './error-page.ts';
import { answerOf } from './answer.ts';
import { toProblem } from './errors.ts';
import { checkOrigins, rawValues } from './check-origins.ts';
import { useIdempotency } from './idempotency.ts';
import { readJsonBodies } from './json-body.ts';
import { describeApi, serveOpenApi } from './openapi.ts';
import { answerRawErrors, refuseTunnel } from './raw-errors.ts';
import { createTenantCare } from '../tenant-defaults.ts';
import { refuseSecretsOfRoutes } from './refuse-secrets.ts';
import { answerUnknownRoutes } from './unknown-routes.ts';
import { refuseUnknownQueries } from './unknown-query.ts';
import { addressOf, countWrongKeys } from './wrong-keys.ts';

/** A client must send its headers and its body within these times, or it is disconnected (slow requests). */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than an escaped session key can be. */
const MAX_PARAM_LENGTH = 800;

/**
 * Documents below `memory/` are named by their path. Its slashes belong to the name, whether a client escapes them or
 * not.
 */
const MEMORY = /^(\/v1\/agents\/[^/?#]+\/files\/memory)\/([^?#]+?\.md)(?=[/?#]|$)/i;

function memoryAddress(url: string): string {
  return url.replace(
    MEMORY,
    (_all, before: string, rest: string) => `${before}%2F${rest.replaceAll('/', '%2F')}`,
  );
}

/** The server does not listen yet. `close()` ends streams and waits, finishes requests, and refuses new ones. */
export async function createServer(deps: ApiDeps): Promise<Api> {
  const { settings } = deps;
  const app: Api = fastify({
    logger: {
      level: deps.logLevel,
      base: { part: 'api' },
      redact: ['req.headers.authorization', 'req.headers.cookie'],
      stream: deps.logs,
    },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: settings.bodyLimitBytes,
    // Any other sender of X-Forwarded-For could be anybody, and would have no rate limit.
    trustProxy: settings.trustedProxies?.length ? [...settings.trustedProxies] : false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, shouldUpgradeCallback: isForNode },
    // Requests that arrived before the shutdown are answered, not refused.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    rewriteUrl: ({ url = '/' }) => memoryAddress(url),
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const { status, headers, body } = toProblem(error, request);
      void reply.code(status).headers(headers).header('x-request-id', request.id).send(JSON.stringify(body));
    },
    clientErrorHandler: answerRawErrors,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler((route) => {
    const serialize = serializerCompiler(route as Parameters<typeof serializerCompiler>[0]);
    return (row) => serialize(answerOf(route.schema, row));
  });
  app.server.on('connect', refuseTunnel);
  app.decorate('pool', deps.pool);
  readJsonBodies(app);
  drainOnClose(app);

  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body, isBug } = toProblem(error, request);
    if (isBug) request.log.error({ err: error }, 'request failed');
    else request.log.debug({ code: body.code, detail: body.detail }, 'request refused');
    reply.serializer((payload) => JSON.stringify(payload));
    return reply.code(status).headers(headers).send(body);
  });

  await addSecurityHeaders(app, settings.publicUrl?.startsWith('https:') ?? false);
  // The web UI's pages call the codec endpoint from their own origin.
  const uiOrigin = deps.codec && settings.temporalUiUrl ? [new URL(settings.temporalUiUrl).origin] : [];
  const origins = [...settings.corsOrigins, ...uiOrigin];
  checkOrigins(app, settings, origins);
  allowOrigins(app, origins);
  await addRateLimit(app, settings.rateLimitPerMinute);
  const isPage = recognizePages(app, deps);
  const authenticator = addAuthentication(app, deps, isPage);
  refuseSecretsOfRoutes(app, deps);
  useIdempotency(app, deps.pool);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    deps.metrics.request(route, request.method, reply.statusCode, reply.elapsedTime / 1000);
    // The route is logged, not the address, because a query may contain private data.
    request.log.debug(
      {
        method: request.method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        tenant: request.caller?.tenant,
        key: request.caller?.keyId,
      },
      'request',
    );
  });

  await describeApi(app);
  refuseUnknownQueries(app);
  answerUnknownRoutes(app, deps, isPage);
  await addAllRoutes(app, deps, authenticator);
  serveErrorPage(app);
  serveOpenApi(app);
  await app.ready();
  return app;
}

/** Each file below `routes/` adds its own routes, by its name, then each feature; the order is that of the OpenAPI document. */
async function addAllRoutes(app: Api, deps: ApiDeps, authenticator: RouteAuthenticator): Promise<void> {
  const folder = new URL('../routes/', import.meta.url);
  const own = (await readdir(folder, { recursive: true }))
    .filter((file) => file.endsWith(SOURCE_ENDING))
    .toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1))
    .map((file) => () => import(new URL(file, folder).href) as Promise<RouteModule>);
  for (const load of [...own, ...deps.features.flatMap(({ routes = [] }) => routes)])
    await (await load()).addRoutes(app, deps, authenticator);
}

async function addSecurityHeaders(app: Api, tls: boolean): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
      },
    },
    hsts: tls,
    crossOriginResourcePolicy: { policy: 'same-origin' },
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('cache-control', 'no-store');
    if (request.routeOptions.url?.startsWith('/docs')) reply.header('content-security-policy', DOCS_POLICY);
  });
}

/** Scalar's page has its own script, and inline settings and styles; it may send requests only to this server. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

function addAuthentication(app: Api, deps: ApiDeps, isPage: IsPage): RouteAuthenticator {
  const authenticator = createAuthenticator(deps.pool, Date.now, deps.secrets.changes, deps.readBearer);
  const careFor = createTenantCare(deps.pool, deps.models);
  app.decorateRequest('caller', null);
  app.decorateRequest('credential', null);
  const slowDown = countWrongKeys(app);
  app.addHook('onRequest', async (request) => {
    const { url } = request.routeOptions;
    const scope = url?.startsWith('/docs') ? 'public' : request.routeOptions.config.scope;
    if (scope === 'public' || isPage(request)) return;
    const keys = rawValues(request.raw, 'authorization');
    // Whoever sends a key means that key, whatever else the request carries.
    const carried = keys.length === 0 ? await deps.findCredential?.(request) : undefined;
    // Two keys count as none, because a proxy before us may have judged the other one.
    const { caller, credential } = carried
      ? { caller: callerOfKey(carried.key), credential: carried }
      : await authenticator
          .authenticate(keys.length > 1 ? keys.join(', ') : keys[0])
          .catch((error: unknown) => {
            if (keys.length === 0) throw error;
            return slowDown(request, error);
          });
    request.credential = credential;
    const { traceparent } = request.headers;
    request.caller = {
      ...caller,
      ...(deps.settings.sharedSessions && { confinedTo: null }),
      ...(readTraceparent(traceparent) && { trace: String(traceparent) }),
    };
    if (scope) requireScope(caller, scope);
    requireThawed(caller, request.method);
    await careFor(caller.tenant);
  });
  return {
    forget: authenticator.forget,
    findKey: (request, secret) =>
      authenticator.findKey(secret).catch((error: unknown) => slowDown(request, error)),
    refuse: slowDown,
  };
}

async function addRateLimit(app: Api, perMinute: number): Promise<void> {
  await app.register(rateLimit, {
    global: perMinute > 0,
    max: perMinute,
    timeWindow: '1 minute',
    cache: 10_000,
    enableDraftSpec: true,
    keyGenerator: (request) =>
      request.caller ? `${request.caller.tenant}/${request.caller.keyId}` : addressOf(request),
    errorResponseBuilder: (_request, context) =>
      new Failure('RateLimited', `This key may ask ${context.max} times a minute`, {
        retry_after: Math.max(1, Math.ceil(context.ttl / 1000)),
      }),
  });
}

/** Other requests that offer another protocol (h2c) are answered over HTTP/1.1, including their body. */
function isForNode({ url }: IncomingMessage): boolean {
  return url === '/v1/nodes/connect';
}

/** The caller's own id if it is a valid one, to follow a request through several systems; otherwise a new one. */
function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header)) return header;
  return `req_${randomBytes(9).toString('hex')}`;
}

/**
 * Parses plain names and values. Repeated names become lists, which the schemas refuse. There is no prototype to
 * pollute.
 */
function parseQuery(text: string): Record<string, unknown> {
  const query = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name];
    query[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value];
  }
  return query;
}
