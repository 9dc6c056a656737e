/** Serves records of outgoing requests from their rows. */
import { Failure } from '#domain/errors.ts';
import { egress } from '#domain/resource/egress.ts';
import { listEgressRows } from '#store/egress-store.ts';
import type { Api } from '../deps.ts';
import { isNumberKeys, readPage } from '../server/pages.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api): void {
  serveResource(app, egress, {
    listEgress: ({ db, caller, query }) => {
      if (caller.confinedTo !== null)
        throw new Failure('Forbidden', 'A key of one user does not see what others have asked');
      return readPage(
        query,
        (limit, after) =>
          listEgressRows(db, query, limit, after === undefined ? undefined : Number(after[0])),
        ({ id }) => [Number(id)],
        isNumberKeys(1),
      );
    },
  });
}
