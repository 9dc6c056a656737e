/** Refuses query parameters of the API's routes that there are not, so that nobody relies on a filter without effect. */
import { z } from 'zod';
import type { Api } from '../deps.ts';

const NO_QUERY = z.strictObject({});

/**
 * Must be called before the routes are added. Routes that the document does not describe are called by programs of others,
 * and public ones by browsers, with parameters of their own.
 */
export function refuseUnknownQueries(app: Api): void {
  app.addHook('onRoute', ({ url, schema, config }) => {
    const isOurs = url.startsWith('/v1/') && config?.scope !== 'public';
    if (isOurs && schema && !schema.hide) schema.querystring ??= NO_QUERY;
  });
}
