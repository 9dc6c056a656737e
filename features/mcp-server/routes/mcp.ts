/** `/mcp`: TempoClaw as an MCP server over streamable HTTP, stateless, with the keys and scopes of the API (MC-5). */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { waitSchema } from '#domain/schema/message.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { callerOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { createMcpServer } from '../server/mcp-server.ts';
import { MAIN_AGENT } from '#api/tenant-defaults.ts';
import { endOf } from '#api/routes/turns/messages.ts';

/** Below the minute after which clients give up. */
const DEFAULT_WAIT_SECONDS = 50;

const query = z.strictObject({
  agent: nameSchema.default(MAIN_AGENT),
  wait: waitSchema.default(DEFAULT_WAIT_SECONDS),
});

export function addRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/mcp',
    // The message determines which scope it needs.
    { config: { repeatable: true }, schema: { hide: true, querystring: query } },
    async (request, reply) => {
      const { body, headers, id: requestId, log } = request;
      if (Array.isArray(body))
        throw new Failure('InvalidInput', 'Send one message in a request: MCP has no batches');
      const mcpRequest = {
        deps,
        caller: callerOf(request),
        agent: request.query.agent,
        waitSeconds: request.query.wait,
        signal: endOf(reply),
        requestId,
        onBug: (error: unknown) => log.error({ err: error }, 'request failed'),
      };
      const handler = createMcpHandler(() => createMcpServer(mcpRequest), {
        // There are no subscriptions, and a stream would outlast the server's stop.
        maxSubscriptions: 0,
        onerror: (error) => log.debug({ err: error }, 'MCP message refused'),
      });
      // The key is not forwarded; Host and Origin have already been checked.
      const passed = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' && /^(accept|content-type|mcp-.*)$/.test(name) ? [[name, value]] : [],
      );
      const message = new Request('http://api.invalid/mcp', {
        method: 'POST',
        headers: passed,
      });
      return reply.send(await handler.fetch(message, { parsedBody: body ?? null }));
    },
  );
}
