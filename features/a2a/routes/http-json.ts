/** `/v1/a2a/{agent}/…`: the binding HTTP+JSON. Each route is a method of JSON-RPC with its parameters in other places. */
import { A2A_CONTENT_TYPE } from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { readBodiesAsJson } from '#api/server/json-body.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { isRecord } from '#domain/outside-value.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { sendHttpError } from '../a2a-error.ts';
import { serveRequest } from '../serve-request.ts';

const text = z.string().max(300).optional();
const params = z.object({ agent: nameSchema, task: text, config: text });

type Verb = 'GET' | 'POST' | 'DELETE';

/** `::` is one colon. */
const ROUTES: readonly (readonly [Verb, path: string, method: string])[] = [
  ['POST', '/message::send', 'SendMessage'],
  ['POST', '/message::stream', 'SendStreamingMessage'],
  ['GET', '/tasks', 'ListTasks'],
  ['GET', '/extendedAgentCard', 'GetExtendedAgentCard'],
  ['POST', '/tasks/:task/pushNotificationConfigs', 'CreateTaskPushNotificationConfig'],
  ['GET', '/tasks/:task/pushNotificationConfigs', 'ListTaskPushNotificationConfigs'],
  ['GET', '/tasks/:task/pushNotificationConfigs/:config', 'GetTaskPushNotificationConfig'],
  ['DELETE', '/tasks/:task/pushNotificationConfigs/:config', 'DeleteTaskPushNotificationConfig'],
];

/** What may follow a task's id, after a colon; ids have colons too. */
const TASK = /^(.+?)(?::(cancel|subscribe))?$/;
const OF_TASK: Readonly<Record<string, string>> = {
  'GET ': 'GetTask',
  'GET subscribe': 'SubscribeToTask',
  'POST subscribe': 'SubscribeToTask',
  'POST cancel': 'CancelTask',
};

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);
  readBodiesAsJson(app, A2A_CONTENT_TYPE);

  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    method: string,
    values: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const { agent } = params.parse(request.params);
    const { body = {}, query } = request;
    const all = isRecord(body) ? { ...readQuery(query), ...body, ...values } : body;
    const answer = await serveRequest(deps, replies, request, reply, {
      agent,
      binding: 'HTTP+JSON',
      message: { jsonrpc: '2.0', id: null, method, params: all },
      wrap: (item) => item as object,
    });
    return answer ? reply.type(A2A_CONTENT_TYPE).send(answer.result) : reply;
  }

  const options = {
    config: { repeatable: true },
    bodyLimit: MAX_BODY_WITH_FILES,
    errorHandler: sendHttpError,
    schema: { hide: true, params },
  } as const;
  for (const [verb, path, method] of ROUTES)
    app.route({
      ...options,
      method: verb,
      url: `/v1/a2a/:agent${path}`,
      handler: (request, reply) => {
        const { task: taskId, config: id } = request.params;
        return serve(request, reply, method, {
          ...(taskId !== undefined && { taskId }),
          ...(id !== undefined && { id }),
        });
      },
    });
  app.route({
    ...options,
    method: ['GET', 'POST'],
    url: '/v1/a2a/:agent/tasks/:task',
    handler(request, reply) {
      const [, id, verb = ''] = TASK.exec(request.params.task ?? '') ?? [];
      const method = OF_TASK[`${request.method} ${verb}`];
      if (!method) throw new TaskNotFoundError('There is no such address');
      return serve(request, reply, method, { id });
    },
  });
}

/** A text is true only if it says so. */
function readQuery(query: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(query)) return {};
  const { includeArtifacts, ...rest } = query;
  return {
    ...rest,
    ...(includeArtifacts !== undefined && { includeArtifacts: includeArtifacts === 'true' }),
  };
}
