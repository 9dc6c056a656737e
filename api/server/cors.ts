/** Lets browsers on configured origins call the API. Without configured origins, no origin is allowed. */
import type { Api } from '../deps.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, traceparent, x-namespace, x-request-id';
const ANSWER_HEADERS =
  'x-request-id, retry-after, etag, location, content-location, content-disposition, idempotent-replayed, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

/** Keys travel in a header that the page sets itself, so credentials mode is never needed. */
export function allowOrigins(app: Api, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || !(allowed.has(origin) || allowed.has('*'))) return undefined;
    reply
      .header('access-control-allow-origin', origin)
      .header('access-control-expose-headers', ANSWER_HEADERS)
      .header('cross-origin-resource-policy', 'cross-origin');
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
      return undefined;
    return reply
      .code(204)
      .header('access-control-allow-methods', METHODS)
      .header('access-control-allow-headers', REQUEST_HEADERS)
      .header('access-control-max-age', '600')
      .send();
  });
}
