/** What of a TempoClaw runs on this machine, by what its start has left in the state folder, and how it answers. */
import { uptime } from 'node:os';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import type { Config } from '#config';
import { temporalConnection } from '#config';
import type { RunInfo } from './run-state.ts';
import { markProcess, type ProcessMark } from './process-identity.ts';

/** A part that has not answered by then is away. */
const ANSWER_MS = 3_000;

export interface PartStatus {
  readonly part: string;
  readonly ready: boolean;
  /** `ready`, `running` (nothing answers for it), `away`, or `ended`. */
  readonly state: string;
  readonly where: string | null;
  readonly version: string | null;
  readonly pid: number | null;
  /** ISO 8601. */
  readonly since: string | null;
}

/** Every part of run.json; one that another machine or somebody else runs has no pid. */
export async function inspectRun(config: Config, info: RunInfo): Promise<PartStatus[]> {
  const [api, temporal, postgres] = await Promise.all([
    info.api === null ? undefined : versionOfApi(info.api),
    versionOfTemporal(config, info),
    versionOfPostgres(info.database_url),
  ]);
  const part = (name: string, where: string | null, answer: Answer | undefined): PartStatus =>
    statusOf(name, where, answer, info.pids[name]);
  return [
    part('up', null, undefined),
    ...(info.api === null
      ? []
      : [part('api', info.api, api), part('worker', `task queue ${info.task_queue}`, undefined)]),
    part('temporal', `${info.temporal}, namespace ${info.namespace}`, temporal),
    part('postgres', new URL(info.database_url).host, postgres),
  ];
}

type Answer = { readonly version: string | null } | 'away';

function statusOf(
  part: string,
  where: string | null,
  answer: Answer | undefined,
  pid: number | undefined,
): PartStatus {
  const mark = pid === undefined ? undefined : markProcess(pid);
  // Without a pid it is somebody else's, and only its answer counts.
  const isGone = mark === undefined && (pid !== undefined || answer === undefined);
  const state = isGone ? 'ended' : answer === undefined ? 'running' : answer === 'away' ? 'away' : 'ready';
  return {
    part,
    ready: state === 'ready' || state === 'running',
    state,
    where,
    version: typeof answer === 'object' ? answer.version : null,
    pid: isGone ? null : (pid ?? null),
    since: mark === undefined ? null : startOf(mark).toISOString(),
  };
}

/** On Linux a mark counts in hundredths of a second from the machine's start; elsewhere it is a date. */
function startOf({ started }: ProcessMark): Date {
  const ticks = /^[\da-f-]+ (\d+)$/.exec(started)?.[1];
  return new Date(ticks === undefined ? started : Date.now() - uptime() * 1_000 + Number(ticks) * 10);
}

async function versionOfApi(url: string): Promise<Answer> {
  const ask = (path: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  try {
    const [ready, about] = await Promise.all([ask('/readyz'), ask('/')]);
    const { version } = (await about.json()) as { version?: unknown };
    return ready.ok ? { version: typeof version === 'string' ? version : null } : 'away';
  } catch {
    // Refused, too slow, or another program at its port.
    return 'away';
  }
}

async function versionOfTemporal(config: Config, info: RunInfo): Promise<Answer> {
  const target = config.temporal.address === info.temporal ? temporalConnection(config) : {};
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ ...target, address: info.temporal, connectTimeout: ANSWER_MS });
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return { version: serverVersion ?? null };
  } catch {
    // The table says that it is away; its log says why.
    return 'away';
  } finally {
    await connection?.close();
  }
}

async function versionOfPostgres(url: string): Promise<Answer> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  });
  // A connection that breaks later is no news: the answer is known.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return { version: rows[0]?.server_version ?? null };
  } catch {
    // As above.
    return 'away';
  } finally {
    await client.end().catch(() => undefined);
  }
}
