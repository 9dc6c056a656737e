/** Makes the routes of a resource from its definition. Handlers get the checked request and return the answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Failure, type FailureType } from '#domain/errors.ts';
import type { Operation, Operations, OutputOf, Resource } from '#domain/resource/define-resource.ts';
import { isStorable } from '#domain/outside-value.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import type { Answerable } from './server/answer.ts';
import { type Caller, callerOf, signatureOf } from './server/auth.ts';
import type { Api } from './deps.ts';
import { paramOf } from './found.ts';
import { problems } from './server/openapi.ts';

export interface Call<One extends Operation = Operation> {
  readonly caller: Caller;
  readonly tenant: string;
  /** Postgres for the caller's tenant. */
  readonly db: TenantDb;
  /** The name that a change is signed with. */
  readonly by: string;
  readonly params: OutputOf<One['params']>;
  readonly query: OutputOf<One['query']>;
  readonly body: OutputOf<One['body']>;
  readonly request: FastifyRequest;
  /** The reply, with which a handler can set a status other than the usual one. */
  readonly reply: FastifyReply;
}

/** Rows, of which `answerOf` makes the answer. Undefined, or false for a deletion, is a 404: there is no such row. */
type Answered<One extends Operation> = One['answer'] extends z.ZodNull
  ? boolean
  : Answerable<z.output<One['answer']>> | undefined;

export type Handlers<Named extends Operations> = {
  readonly [Id in keyof Named]: (call: Call<Named[Id]>) => Promise<Answered<Named[Id]>>;
};

/**
 * Returns undefined when the tenant has no such row, or none that the caller can reach. `key` passed `isKey`, but no
 * schema yet.
 */
export type Find = (
  caller: Caller,
  key: string,
  params: Readonly<Partial<Record<string, string>>>,
  request: FastifyRequest,
) => Promise<unknown>;

/** Adds one route for each operation. `find` is needed where an operation of the resource looks up its row first. */
export function serveResource<Named extends Operations>(
  app: Api,
  resource: Resource<Named>,
  handlers: Handlers<Named>,
  find?: Find,
): void {
  const { tag, key, keySchema, isDefinition } = resource;
  const isKey =
    resource.isKey ?? ((value: string) => keySchema?.safeParse(value).success ?? isStorable(value));
  const missing = (): Failure => new Failure('NotFound', resource.missing);
  const malformed = (): Failure =>
    resource.malformed === undefined ? missing() : new Failure('InvalidInput', resource.malformed);
  const all = Object.entries<Operation>(resource.operations);
  const isShown = all.some(([, { method, path }]) => method === 'GET' && path === `${resource.path}/:${key}`);

  for (const [operationId, operation] of all) {
    const { method, path, scope, params, query, body, answer, status, shownOnce, repeatable } = operation;
    // A PUT may create the row: its client has to know what is wrong with the name.
    const isNaming =
      resource.isKey === undefined &&
      method === 'PUT' &&
      !operation.findsFirst &&
      path === `${resource.path}/:${key}`;
    const run = handlers[operationId] as (call: Call) => Promise<unknown>;
    const probe = async (request: FastifyRequest): Promise<void> => {
      if (!params || !operation.findsFirst || !find) return;
      const row = await find(
        callerOf(request),
        String(paramOf(request, key)),
        request.params as Record<string, string>,
        request,
      );
      if (!row) throw missing();
    };
    app.route({
      method,
      url: path,
      config: { scope, shownOnce, repeatable, isDefinition },
      bodyLimit: operation.maxBytes,
      schema: {
        tags: [operation.tag ?? tag],
        operationId,
        summary: operation.summary,
        ...(operation.description && { description: operation.description }),
        ...(params && { params }),
        ...(query && { querystring: query }),
        ...(body && { body }),
        response: {
          [status]: answer,
          ...(operation.mayGoOn && { 202: answer }),
          ...problems(...refusalsOf(operation)),
        },
      },
      async preValidation(request) {
        // Clients omit the body of an action whose fields are all optional.
        if (method === 'POST' && body) request.body ??= {};
        if (!params) return;
        const value = paramOf(request, key);
        if (value !== undefined && !isNaming && !isKey(String(value))) throw malformed();
        if (!isKeyed(request)) await probe(request);
      },
      // A repeat of a request that removed the row gets the first answer, so the row is not looked up before that.
      async preHandler(request) {
        if (isKeyed(request)) await probe(request);
      },
      async handler(request, reply) {
        const caller = callerOf(request);
        const { tenant } = caller;
        const requested = { params: request.params, query: request.query, body: request.body };
        const value = await run({
          caller,
          tenant,
          db: forTenant(app.pool, tenant),
          by: signatureOf(caller),
          ...requested,
          request,
          reply,
        } as Call);
        if (value === undefined || value === false) throw missing();
        if (status === 201 && isShown && !params)
          reply.header(
            'location',
            `${resource.path}/${String((value as Record<string, unknown>)[resource.field ?? key])}`,
          );
        if (reply.statusCode === 200) reply.code(status);
        return reply.send((status === 204 ? null : value) as never);
      },
    });
  }
}

function isKeyed({ method, headers }: FastifyRequest): boolean {
  return method === 'POST' && headers['idempotency-key'] !== undefined;
}

/** A PUT that does not look up its row creates it. */
function refusalsOf({ method, params, findsFirst, refuses = [] }: Operation): readonly FailureType[] {
  return params && (method !== 'PUT' || findsFirst) ? ['NotFound', ...refuses] : refuses;
}
