/** Serves recordings and replays. */
import { randomBytes } from 'node:crypto';
import type { Api, ApiDeps } from '#api/deps.ts';
import { isReachable, noSession, reachableSession } from '#api/found.ts';
import { serveResource } from '#api/serve-resource.ts';
import { Failure } from '#domain/errors.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { findAgent } from '#store/agent-store.ts';
import { isSessionKey } from '#domain/ids.ts';
import { findSession } from '#store/turns/session-store.ts';
import { readRecording } from './read-recording.ts';
import { replays } from './resource.ts';
import type { Recording, ReplayMode, Script, ScriptedAnswer } from './schema.ts';
import { isScript } from './script.ts';
import { findReplay, insertReplay, readParts, type ReplayChange, type ReplayRow } from './store.ts';
import { resolveChange } from './what-if/resolve-change.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(app, replays, {
    async getRecording({ caller, tenant, db, params: { key } }) {
      if (!isSessionKey(key) || !(await reachableSession(deps.pool, caller, key))) throw noSession();
      return readRecording(db, await deps.secrets.vault.scrubberOf(tenant), key);
    },
    async createReplay({ tenant, db, by, body }) {
      const standIns = 'script' in body ? body.script : body.recording;
      const agent = await findAgent(db, standIns.agent);
      if (!agent)
        throw new Failure('NotFound', `There is no agent ${standIns.agent} here; deploy or create it first`);
      if ('script' in body) await refuseUnknownTools(deps, tenant, body.script);
      const change = 'change' in body ? resolveChange(deps, agent, body.change) : null;
      const scrubber = await deps.secrets.vault.scrubberOf(tenant);
      const id = `rpl_${randomBytes(12).toString('hex')}`;
      const row = {
        id,
        session_key: id.replace('rpl_', 'replay-'),
        mode: body.mode,
        stand_ins: scrubber.args({ ...standIns }) as unknown as ReplayRow['stand_ins'],
        change: change && (scrubber.args({ ...change }) as unknown as ReplayChange),
      };
      await insertReplay(db, row, by, contextOf(id, standIns));
      return { ...show({ ...row, difference: null, created_at: new Date() }) };
    },
    async getReplay({ caller, db, params: { id } }) {
      const row = await findReplay(db, id);
      const session = row && (await findSession(db, row.session_key));
      if (!session || !isReachable(caller.confinedTo, session.user_id)) return undefined;
      return { ...show(row), parts: await readParts(db, id) };
    },
  });
}

/**
 * What a script says of a tool that the agent cannot have would never be used. It may hold the refusals of one: the
 * recording that it comes from has them. @throws Failure Unprocessable
 */
async function refuseUnknownTools(
  { tools }: Pick<ApiDeps, 'tools'>,
  tenant: string,
  { agent, tools: answers, approvals }: Script,
): Promise<void> {
  const answered = Object.entries(answers).filter(([, all]) => !all.every(isRefusal));
  const named = [
    ...answered.map(([name]) => ['tools', name] as const),
    ...Object.keys(approvals).flatMap((name) => (name === '*' ? [] : [['approvals', name] as const])),
  ];
  const found = await Promise.all(named.map(([, name]) => tools.find(tenant, agent, name)));
  const errors = named.flatMap(([field, name], at) => {
    const tool = found[at];
    if (tool?.name === name) return [];
    const message = tool
      ? `is another name of ${tool.name}; write that`
      : `is no tool that ${agent} can have`;
    return [{ pointer: `body/script/${field}/${name}`, message }];
  });
  const [first] = errors;
  if (first) throw new Failure('Unprocessable', `${first.pointer}: ${first.message}`, { errors });
}

function isRefusal({ code }: ScriptedAnswer): boolean {
  return code === 'NotFound' || code === 'PermissionDenied';
}

/** Rules judge the calls of whoever spoke in the recording. */
function contextOf(id: string, standIns: Recording | Script): MessageContext {
  if (!isScript(standIns)) return { ...standIns.context, stand_ins: id };
  const { user, model } = standIns;
  return {
    ...(user !== undefined && { user }),
    ...(model !== undefined && { overrides: { model } }),
    stand_ins: id,
  };
}

function show({
  id,
  session_key,
  mode,
  stand_ins,
  difference,
  created_at,
}: ReplayRow & { mode: ReplayMode }) {
  return { id, session_key, agent: stand_ins.agent, mode, difference, created_at };
}
