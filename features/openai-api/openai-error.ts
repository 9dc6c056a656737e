/** Errors as OpenAI's clients read them. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toProblem } from '#api/server/errors.ts';

/** The error handler of a route. */
export function sendOpenaiError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, headers, body, isBug } = toProblem(error, request);
  if (isBug) request.log.error({ err: error }, 'request failed');
  void reply
    .code(status)
    .headers({ ...headers, 'content-type': 'application/json; charset=utf-8' })
    .send({ error: openaiError(body) });
}

interface ErrorFacts {
  readonly status?: number;
  readonly detail?: string;
  readonly code: string;
  readonly errors?: readonly { readonly pointer?: string }[] | undefined;
}

export function openaiError({ status = 500, detail = '', code, errors }: ErrorFacts) {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { message: detail, type, param: errors?.[0]?.pointer ?? null, code };
}
