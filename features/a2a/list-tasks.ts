/** Tasks of an agent in pages. */
import { type ListTasksRequest, type ListTasksResponse, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { PageEnd } from '#store/postgres/statements.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type ListedTask, listTasks } from './store.ts';
import { turnStatusOf } from './task.ts';
import { type A2aRequest, showTasks } from './tasks.ts';

const PAGE = 50;
const MAX_PAGE = 100;

export async function showTaskList(
  request: A2aRequest,
  { contextId, status, pageSize = PAGE, pageToken, historyLength, ...rest }: ListTasksRequest,
): Promise<ListTasksResponse> {
  const { deps, caller, agent } = request;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE)
    throw new RequestMalformedError(`pageSize must be 1 to ${MAX_PAGE}`);
  if (status === TaskState.UNRECOGNIZED) throw new RequestMalformedError('status is no state of a task');
  const after = pageToken === '' ? undefined : readPageToken(pageToken);
  const since = readTime(rest.statusTimestampAfter);
  const isAny = status === TaskState.TASK_STATE_UNSPECIFIED;
  const only = isAny ? undefined : turnStatusOf(status);
  // Turns are in no other state.
  if (!isAny && !only) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  const filter = { agent, user: caller.confinedTo, session: contextId || undefined, status: only, since };
  const { rows, total } = await listTasks(forTenant(deps.pool, caller.tenant), filter, pageSize + 1, after);
  const page = rows.slice(0, pageSize);
  return {
    tasks: await showTasks(request, page, historyLength ?? 0, rest.includeArtifacts === true),
    nextPageToken: rows.length > pageSize ? pageTokenOf(page.at(-1)) : '',
    pageSize,
    totalSize: total,
  };
}

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new RequestMalformedError('statusTimestampAfter must be ISO 8601');
  return time;
}

function pageTokenOf(last: ListedTask | undefined): string {
  return last ? Buffer.from(JSON.stringify([last.changed_text, last.id])).toString('base64url') : '';
}

function readPageToken(token: string): PageEnd {
  const [, time, id] =
    /^\["([0-9:.+ -]{10,40})","([A-Za-z0-9._:-]{1,200})"\]$/.exec(
      Buffer.from(token, 'base64url').toString(),
    ) ?? [];
  if (!time || !id || Number.isNaN(Date.parse(time)))
    throw new RequestMalformedError('pageToken is not from this list');
  return [time, id];
}
