/** Makes OpenAPI 3.1 from the same zod schemas that check requests and answers, and the page that shows it. */
import swagger from '@fastify/swagger';
import scalar from '@scalar/fastify-api-reference';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Failure, FAILURES, type FailureType } from '#domain/errors.ts';
import { fieldOf } from '#domain/outside-value.ts';
import { problemSchema } from '#domain/schema/problem.ts';
import { PROBLEM_TYPE } from './errors.ts';
import type { Api } from '../deps.ts';

/** Refusals that any route with a key may send. */
const ALWAYS: readonly FailureType[] = [
  'InvalidInput',
  'Unauthorized',
  'Forbidden',
  'RateLimited',
  'Internal',
  'Unavailable',
  'TenantFrozen',
];

type ProblemAnswers = Record<
  number,
  { description: string; content: { [PROBLEM_TYPE]: { schema: typeof problemSchema } } }
>;

/** The refusals of a route, for its `response`: the named ones and those that every route may send. */
export function problems(...types: readonly FailureType[]): ProblemAnswers {
  return withProblems({}, [...types, ...ALWAYS]);
}

/** The description of an answer that a route sends as raw bytes, for its `response`. */
export function bytesOf(type: string, description: string) {
  return { description, content: { [type]: { schema: z.any().meta({ format: 'binary' }) } } };
}

function withProblems(before: ProblemAnswers, types: readonly FailureType[]): ProblemAnswers {
  const answers = { ...before };
  for (const type of types) {
    const { status, title } = FAILURES[type];
    const known = answers[status]?.description;
    const words = `\`${type}\`: ${title}`;
    answers[status] = {
      description: known === undefined ? words : known.includes(words) ? known : `${known}. ${words}`,
      content: { [PROBLEM_TYPE]: { schema: problemSchema } },
    };
  }
  return answers;
}

const TAGS = [
  ['messages', 'Say something and get an answer'],
  ['sessions', 'Conversations, their transcript and their feed'],
  ['turns', 'What became of a message'],
  ['delegations', 'Work that agents give to each other'],
  ['approvals', 'What waits for a person'],
  ['agents', 'Who answers'],
  ['artifacts', 'Files that people and models pass about'],
  ['tools', 'What agents can do'],
  ['skills', 'Instructions that agents find'],
  ['policy', 'What may be done, and why'],
  ['budgets', 'What work may use, and what it has used'],
  ['keys', 'Who may call'],
  ['secrets', 'Values that only activities see'],
  ['service', 'Health and numbers'],
] as const;

export async function describeApi(app: Api): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'TempoClaw',
        version: '1.0.0',
        description:
          'Runs tool-using AI agents as durable Temporal workflows. Errors are application/problem+json with a stable `code`; every POST takes an `Idempotency-Key`; lists are pages `{data, has_more, next_cursor}`, but that of custom tools, which is counted: `{tools, total, limit, offset}`.',
      },
      servers: [{ url: '/' }],
      tags: TAGS.map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer', bearerFormat: 'tc_…' } } },
      security: [{ key: [] }],
    },
    transform: (route) => {
      const { scope, repeatable } = route.route.config ?? {};
      const takesKey = route.route.method === 'POST' && scope !== undefined && scope !== 'public';
      const refusals: readonly FailureType[] = repeatable
        ? ['IdempotencyMismatch']
        : ['IdempotencyMismatch', 'IdempotencyInFlight'];
      const response = route.schema?.response as ProblemAnswers | undefined;
      const made = jsonSchemaTransform(
        takesKey && response
          ? { ...route, schema: { ...route.schema, response: withProblems(response, refusals) } }
          : route,
      );
      const schema = made.schema as Record<string, unknown>;
      const { body } = route.schema ?? {};
      const examples = body instanceof z.ZodType ? body.meta()?.['examples'] : undefined;
      // zod omits the examples of a schema that reads other names for its fields.
      if (examples !== undefined) schema['body'] = { ...(schema['body'] as object), examples };
      if (scope === 'public') schema['security'] = [];
      else if (scope)
        schema['description'] = [schema['description'], `Scope: \`${scope}\``].filter(Boolean).join('\n\n');
      if (takesKey) schema['headers'] = IDEMPOTENCY_HEADER;
      // A wildcard has no name.
      return { ...made, url: made.url.replace('*', ':path') };
    },
  });
  await app.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      // Both send the document to an external service.
      agent: { disabled: true },
      mcp: { disabled: true },
      pageTitle: 'TempoClaw API',
    },
  });
}

const IDEMPOTENCY_HEADER = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      maxLength: 255,
      description: 'The same request under the same key is done once and answered the same for a day',
    },
  },
};

const DOCUMENT_TYPE = 'application/json; charset=utf-8';

const documentQuery = z.object({
  path: z.string().max(300).optional().describe('Only this path, as the document names it: /v1/agents/{key}'),
});

/** Must be called after all routes are known. The whole document has megabytes; a form needs one path of it. */
export function serveOpenApi(app: Api): void {
  app.get(
    '/openapi.json',
    { config: { scope: 'public', rateLimit: false }, schema: { hide: true, querystring: documentQuery } },
    async ({ query: { path } }, reply) => {
      const document = app.swagger();
      if (path === undefined) return reply.type(DOCUMENT_TYPE).send(JSON.stringify(document));
      const item: unknown = fieldOf<unknown>(document.paths, path);
      if (item === undefined)
        throw new Failure('NotFound', 'The document has no such path; /openapi.json has all');
      return reply.type(DOCUMENT_TYPE).send(JSON.stringify({ ...document, paths: { [path]: item } }));
    },
  );
}
