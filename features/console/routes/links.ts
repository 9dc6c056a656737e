/** Serves the making of links that log a browser in. */
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { Failure } from '#domain/errors.ts';
import { consoleLinks } from '../resource.ts';
import { insertLink } from '../store.ts';
import { hashToken, makeToken } from '../tokens.ts';

/** Time to get from a terminal to a browser. */
const MINUTES = 10;

export function addRoutes(app: Api, { settings, webConsole }: ApiDeps): void {
  serveResource(app, consoleLinks, {
    async createConsoleLink({ db, caller, request }) {
      if (!webConsole)
        throw new Failure('Unprocessable', 'The console is turned off: set console.enabled in the settings');
      // Otherwise a session could go on for ever, and after its end.
      if (request.credential)
        throw new Failure('Forbidden', 'A link is made with an API key, not by a browser or with a token');
      const token = makeToken(128);
      const expires = await insertLink(db, { keyId: caller.keyId, hash: hashToken(token), minutes: MINUTES });
      if (!expires)
        throw new Failure('Conflict', 'This key has too many links that were not used; wait ten minutes');
      const base = settings.publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`;
      // Browsers do not send what follows #, so the token is in no log.
      return { url: `${base}/login#${token}`, expires_at: expires };
    },
  });
}
