/** Reports what of a TempoClaw runs on this machine: what its start left in the state folder, and how it answers. */
import type { Config } from '#config';
import { askPostgres, askTemporal } from '@tempoclaw/dev-services';
import { askApi, connectionTo } from './reach.ts';
import type { RunInfo } from '#cli/run-state.ts';
import { markProcess, startTime } from '@tempoclaw/dev-services/processes';

/** A part that has not answered in this time is away. */
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
    info.api === null ? undefined : orAway(askApi(info.api, ANSWER_MS)),
    orAway(askTemporal(connectionTo(config, info.temporal), info.namespace, ANSWER_MS)),
    orAway(askPostgres(info.database_url, ANSWER_MS).then(({ version }) => version)),
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

type Answer = { readonly version: string } | 'away';

/** The table says that the part is away; its log says why. */
function orAway(version: Promise<string>): Promise<Answer> {
  return version.then(
    (version) => ({ version }),
    () => 'away',
  );
}

function statusOf(
  part: string,
  where: string | null,
  answer: Answer | undefined,
  pid: number | undefined,
): PartStatus {
  const mark = pid === undefined ? undefined : markProcess(pid);
  // A part without a pid is somebody else's, and only its answer counts.
  const isGone = mark === undefined && (pid !== undefined || answer === undefined);
  const state = isGone ? 'ended' : answer === undefined ? 'running' : answer === 'away' ? 'away' : 'ready';
  return {
    part,
    ready: state === 'ready' || state === 'running',
    state,
    where,
    version: typeof answer === 'object' ? answer.version : null,
    pid: isGone ? null : (pid ?? null),
    since: mark === undefined ? null : startTime(mark).toISOString(),
  };
}
