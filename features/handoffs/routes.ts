/** Serves chats that were handed over, from their rows. */
import { clearHandoff, listHandoffs } from '#store/assignments/handoff-store.ts';
import { handoffs } from '#domain/resource/handoffs.ts';
import type { Api } from '../deps.ts';
import { type CursorKeys, readPage } from '../server/pages.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api): void {
  serveResource(app, handoffs, {
    listHandoffs: ({ db, caller, query }) =>
      readPage(
        query,
        (limit, after) =>
          listHandoffs(db, caller.confinedTo, limit, after && isChatKeys(after) ? after : ['', '']),
        (row) => [row.channel, row.chat_id],
        isChatKeys,
      ),
    endHandoff: ({ db, caller, query }) => clearHandoff(db, query.channel, query.chat_id, caller.confinedTo),
  });
}

function isChatKeys(keys: CursorKeys): keys is readonly [string, string] {
  return keys.length === 2 && keys.every((key) => typeof key === 'string');
}
