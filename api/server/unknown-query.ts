/** Refuses query parameters of the API's routes that there are not, so that nobody relies on a filter without effect. */
import { Failure } from '#domain/errors.ts';
import type { Api } from '../deps.ts';

/** Clients send them to every list; a short one is answered whole. */
const OF_PAGES: ReadonlySet<string> = new Set(['limit', 'after']);

/**
 * For routes without parameters; those of others are strict. Routes that the document does not describe are called by
 * programs of others, and public ones by browsers, with parameters of their own.
 */
export function refuseUnknownQueries(app: Api): void {
  app.addHook('preValidation', async ({ query, routeOptions: { url, schema, config } }) => {
    const isOurs = url?.startsWith('/v1/') && config.scope !== 'public';
    if (!isOurs || !schema || schema.hide || schema.querystring) return;
    const name = Object.keys(query as object).find((one) => !OF_PAGES.has(one));
    if (name === undefined) return;
    const [pointer, message] = [`query/${name.slice(0, 100)}`, 'is not a known field'];
    throw new Failure('InvalidInput', `${pointer}: ${message}`, { errors: [{ pointer, message }] });
  });
}
