/** Refuses what pages of other sites send, before anything else reads the request (domain/net/judge-origin.ts). */
import type { IncomingMessage } from 'node:http';
import { Failure } from '#domain/errors.ts';
import { type OriginProblem, originProblem, hostNames } from '#domain/net/judge-origin.ts';
import type { Api, ApiSettings } from '../deps.ts';

export function checkOrigins(
  app: Api,
  { allowedHosts, publicUrl }: Pick<ApiSettings, 'allowedHosts' | 'publicUrl'>,
  origins: readonly string[],
): void {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
  const listeners = { hosts: hostNames(publicUrl, ...allowedHosts), origins: new Set([...own, ...origins]) };
  app.addHook('onRequest', async (request, reply) => {
    const { raw, method, headers, is404 } = request;
    if (rawValues(raw, 'host').length > 1) {
      // Later requests on such a connection may not be what they seem.
      reply.header('connection', 'close');
      throw new Failure('InvalidInput', 'The request names more than one host');
    }
    const problem = originProblem(listeners, { method, host: headers.host, origin: headers.origin });
    // A route that does not exist changes nothing, and answers 404 itself.
    if (problem && !(is404 && problem.kind === 'origin')) throw refusal(problem);
  });
}

/** All values that a request sends under one header name; Node's own `headers` joins or omits some. */
export function rawValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  return rawHeaders.filter((_value, at) => rawHeaders[at - 1]?.toLowerCase() === name && at % 2 === 1);
}

function refusal({ kind, name }: OriginProblem): Failure {
  return kind === 'host'
    ? new Failure('Misdirected', `It is not known by the name ${name}; add it to api.allowedHosts`)
    : new Failure('Forbidden', `Pages of ${name} may change nothing here; add it to api.corsOrigins`);
}
