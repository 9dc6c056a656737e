/** Serves chats that were handed over, from their rows. */
import type { Api } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { type CursorKeys, readPage } from '#api/server/pages.ts';
import { handoffs } from './resource.ts';
import { clearHandoff, listHandoffs } from './store.ts';

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
    endHandoff: ({ db, caller: { confinedTo }, query: { channel, chat_id, session_key: session } }) =>
      clearHandoff(db, channel, chat_id, { confinedTo, session }),
  });
}

function isChatKeys(keys: CursorKeys): keys is readonly [string, string] {
  return keys.length === 2 && keys.every((key) => typeof key === 'string');
}
