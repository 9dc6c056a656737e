/** Reports a turn's progress to an MCP client, from the events of the session's feed. */
import { readEvents } from '#store/event-store.ts';
import type { EventType, StoredEvent } from '#domain/event.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { McpCall } from './mcp-request.ts';

const PAGE = 200;

/**
 * Reports the turn's events after the id `after` until the returned function is called, which resolves when all are
 * sent.
 */
export function reportProgress(
  { deps, caller: { tenant }, report }: McpCall,
  turn: { readonly session: string; readonly id: string },
  after: number,
): () => Promise<void> {
  if (!report) return async () => undefined;
  let last = after;
  let reading: Promise<void> | undefined;
  let isMore = false;
  async function read(): Promise<void> {
    do {
      isMore = false;
      const events = await readEvents(forTenant(deps.pool, tenant), turn.session, last, PAGE);
      for (const event of events) {
        last = event.id;
        const words = event.turn_id === turn.id ? progressText(event) : undefined;
        if (words !== undefined) await report?.(words);
      }
      if (events.length === PAGE) isMore = true;
    } while (isMore);
  }
  const wake = (): void => {
    isMore = true;
    reading ??= read()
      // A client that has disconnected gets no more reports. Its call continues, and its end is reported another way.
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
  };
  const unsubscribe = deps.feed.subscribe(tenant, turn.session, wake);
  wake();
  return async () => {
    unsubscribe();
    await reading;
    wake();
    await reading;
  };
}

const WORDS: Partial<Record<EventType, (about: string, data: StoredEvent['data']) => string>> = {
  'turn.queued': () => 'waits for another turn of the session',
  'turn.started': () => 'begins',
  'turn.held': (_about, { reason }) => `is held back until it is lifted: ${String(reason)}`,
  'tool.started': (about) => `runs ${about}`,
  'tool.completed': (about, { ok, code }) =>
    `${ok === false ? `failed (${String(code)})` : 'done'}: ${about}`,
  'approval.requested': (about, { approval_id: id }) => `waits for approval ${String(id)}: ${about}`,
  'approval.decided': (_about, { approval_id: id, decision }) =>
    `${String(decision)}: approval ${String(id)}`,
  'subagent.started': () => 'a subagent begins',
  'delegation.started': () => 'a delegation begins',
};

function progressText({ type, data }: StoredEvent): string | undefined {
  const { tool, summary } = data;
  return WORDS[type]?.(String(summary ?? tool ?? ''), data);
}
