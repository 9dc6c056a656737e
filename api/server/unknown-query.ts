/** Refuses query parameters of the API's routes that there are not, so that nobody relies on a filter without effect. */
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import type { Api } from '../deps.ts';

/** Clients send them to every list; a short one is answered whole, also one with filters of its own. */
const OF_PAGES = ['limit', 'after'] as const;

/**
 * For routes without parameters; those of others are strict. Routes that the document does not describe are called by
 * programs of others, and public ones by browsers, with parameters of their own.
 */
export function refuseUnknownQueries(app: Api): void {
  app.addHook('preValidation', async ({ method, query, routeOptions: { url, schema, config } }) => {
    const isOurs = url?.startsWith('/v1/') && config.scope !== 'public';
    if (!isOurs || !schema || schema.hide) return;
    const sent = query as Record<string, unknown>;
    const known = schema.querystring ?? z.object({});
    if (method === 'GET' && known instanceof z.ZodObject)
      for (const name of OF_PAGES) if (!(name in known.shape)) delete sent[name];
    if (schema.querystring) return;
    const [name] = Object.keys(sent);
    if (name === undefined) return;
    const [pointer, message] = [`query/${name.slice(0, 100)}`, 'is not a known field'];
    throw new Failure('InvalidInput', `${pointer}: ${message}`, { errors: [{ pointer, message }] });
  });
}
