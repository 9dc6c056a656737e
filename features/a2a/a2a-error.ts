/** Errors as clients of the protocol read them. */
import {
  A2AError,
  A2A_ERROR_CODE,
  ERROR_INFO_TYPE,
  restStatusFor,
  toJsonRpcError,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRecord } from '#domain/outside-value.ts';
import { type ProblemAnswer, toProblem } from '#api/server/errors.ts';

/** The error handler of JSON-RPC: errors of the protocol have status 200, all others that of our API. */
export function sendRpcError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { body } = request;
  const id = isRecord(body) && ['string', 'number'].includes(typeof body['id']) ? body['id'] : null;
  const answer = (shown: object): void => {
    void reply.type('application/json; charset=utf-8').send({ jsonrpc: '2.0', id, error: shown });
  };
  if (error instanceof A2AError) return answer(toJsonRpcError(error));
  const problem = problemOf(error, request, reply);
  const { status, detail } = problem.body;
  const code = status >= 500 ? A2A_ERROR_CODE.INTERNAL_ERROR : A2A_ERROR_CODE.INVALID_REQUEST;
  return answer({ code, message: detail, data: [infoOf(problem)] });
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
