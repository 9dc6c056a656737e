/** `/v1/a2a/{agent}`: the binding JSON-RPC. */
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { isRecord } from '#domain/outside-value.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { sendRpcError } from '../a2a-error.ts';
import { serveRequest } from '../serve-request.ts';

const params = z.object({ agent: nameSchema });

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);
  app.post(
    '/v1/a2a/:agent',
    // The method determines which scope it needs.
    {
      config: { repeatable: true },
      bodyLimit: MAX_BODY_WITH_FILES,
      errorHandler: sendRpcError,
      schema: { hide: true, params },
    },
    async (request, reply) => {
      const {
        body: message,
        params: { agent },
      } = request;
      const id = isRecord(message) ? (message['id'] ?? null) : null;
      const wrap = (result: unknown): object => ({ jsonrpc: '2.0', id, result });
      const answer = await serveRequest(deps, replies, request, reply, {
        agent,
        binding: 'JSONRPC',
        message,
        wrap,
      });
      return answer ? wrap(answer.result) : reply;
    },
  );
}
