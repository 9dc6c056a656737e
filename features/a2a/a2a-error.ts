/** Errors as clients of the protocol read them. */
import {
  A2AError,
  A2A_ERROR_CODE,
  A2A_ERROR_DOMAIN,
  ERROR_INFO_TYPE,
  restStatusFor,
  toJsonRpcError,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRecord } from '#domain/outside-value.ts';
import { type ProblemAnswer, toProblem } from '#api/server/errors.ts';

/** The body is JSON, but not one request of JSON-RPC. */
export class NotARequest extends Error {}

/** Codes of JSON-RPC that the SDK has no error for. */
const PARSE_ERROR = -32_700;

/** The error handler of JSON-RPC: errors of the protocol have status 200, all others that of our API. */
export function sendRpcError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { body } = request;
  const id = isRecord(body) && ['string', 'number'].includes(typeof body['id']) ? body['id'] : null;
  const answer = (shown: object): void => {
    void reply.type('application/json; charset=utf-8').send({ jsonrpc: '2.0', id, error: shown });
  };
  if (error instanceof A2AError) return answer(toJsonRpcError(error));
  if (error instanceof NotARequest) {
    const info = { '@type': ERROR_INFO_TYPE, reason: 'INVALID_REQUEST', domain: A2A_ERROR_DOMAIN };
    return answer({ code: A2A_ERROR_CODE.INVALID_REQUEST, message: error.message, data: [info] });
  }
  const problem = problemOf(error, request, reply);
  const { detail } = problem.body;
  return answer({ code: rpcCodeOf(problem, body), message: detail, data: [infoOf(problem)] });
}

function rpcCodeOf({ body: { status, code } }: ProblemAnswer, body: unknown): number {
  if (status >= 500) return A2A_ERROR_CODE.INTERNAL_ERROR;
  const isUnread = body === undefined && code === 'InvalidInput';
  return isUnread ? PARSE_ERROR : A2A_ERROR_CODE.INVALID_REQUEST;
}

/** The error handler of HTTP+JSON. */
export function sendHttpError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  void reply.type('application/json; charset=utf-8');
  if (error instanceof A2AError) {
    const status = restStatusFor(error);
    void reply.code(status).send(toRestErrorBody(error, status));
    return;
  }
  const problem = problemOf(error, request, reply);
  const { status, detail } = problem.body;
  const body = toRestErrorBody(new Error(detail), status);
  void reply.send({ error: { ...body.error, details: [infoOf(problem)] } });
}

/** Sets the status and headers. */
function problemOf(error: unknown, request: FastifyRequest, reply: FastifyReply): ProblemAnswer {
  const problem = toProblem(error, request);
  if (problem.isBug) request.log.error({ err: error }, 'request failed');
  const { 'content-type': _type, ...headers } = problem.headers;
  void reply.code(problem.status).headers(headers);
  return problem;
}

function infoOf({ body }: ProblemAnswer): object {
  return { '@type': ERROR_INFO_TYPE, reason: body.code, domain: 'tempoclaw' };
}
