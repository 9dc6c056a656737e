/** PO-4: serves what would be decided, by which rule, and why. */
import { z } from 'zod';
import { EXPLAIN_INPUTS, EXPLAIN_KINDS, explainAnswerSchema } from '../schema/explain.ts';
import { jsonObjectSchema } from '#domain/schema/scalars.ts';
import { callerOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { explainFor } from './explain-for.ts';
import { problems } from '#api/server/openapi.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/explain/:kind',
    {
      config: { scope: 'read', repeatable: true },
      schema: {
        tags: ['policy'],
        operationId: 'explainDecision',
        summary: 'Explain a decision on a tool, a command, a path, an address or a text',
        description:
          'Asked of the functions that judge calls, under the rows of the agent and its tenant; nothing is run. The fields of each kind: docs/policy.md.',
        params: z.object({ kind: z.enum(EXPLAIN_KINDS) }),
        body: jsonObjectSchema.meta({
          examples: EXPLAIN_KINDS.flatMap((kind) => EXPLAIN_INPUTS[kind].meta()?.examples ?? []),
        }),
        response: { 200: explainAnswerSchema, ...problems('NotFound') },
      },
    },
    async (request) => explainFor(deps, callerOf(request), request.params.kind, request.body),
  );
}
