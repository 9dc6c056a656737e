/** Explains a case under the rows of the caller's tenant. It reveals no more of the host than a caller may know. */
import { relative } from 'node:path';
import { judgePath } from '#activities/workspace/judge-path.ts';
import { explainCase } from '../policy/explain-case.ts';
import { resolveHost } from '@tempoclaw/egress/resolve-host';
import { findSkillsInUse } from '#store/turns/turn-store.ts';
import { findUsed } from '#store/turns/session-store.ts';
import { findRulesOfAgent, type RulesOfAgent } from '#store/tenant-policy-store.ts';
import { Failure } from '#domain/errors.ts';
import type { ExplainAnswer, ExplainKind } from '../schema/explain.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Caller, userOf } from '#api/server/auth.ts';
import type { ApiDeps } from '#api/deps.ts';
import { noSession, reachableSession } from '#api/found.ts';
import { MAIN_AGENT } from '#api/tenant-defaults.ts';

export async function explainFor(
  deps: ApiDeps,
  caller: Caller,
  kind: ExplainKind,
  body: Readonly<Record<string, unknown>>,
): Promise<ExplainAnswer> {
  const db = forTenant(deps.pool, caller.tenant);
  const user = userOf(caller, userIn(body));
  const agentOf = async (key: string = MAIN_AGENT): Promise<RulesOfAgent> => {
    const found = await findRulesOfAgent(db, key, user ?? null);
    if (!found) throw new Failure('NotFound', 'There is no agent with this key');
    return found;
  };
  const mustReach = async (session: string): Promise<void> => {
    if (!(await reachableSession(deps.pool, caller, session))) throw noSession();
  };
  let folder = '';
  const answer = await explainCase(
    {
      settings: deps.policy.settings,
      resolveProgram: deps.explain.resolveProgram,
      judgePath,
      catalogOf: (agent) => deps.policy.catalogs.of(caller.tenant, agent),
      agentOf,
      async usedIn(session) {
        await mustReach(session);
        return findUsed(db, [session]);
      },
      async skillsIn(session) {
        await mustReach(session);
        return findSkillsInUse(db, session);
      },
      resolve: resolveHost,
      async workspaceOf({ workspace, agent }) {
        if (workspace !== undefined)
          throw new Failure(
            'InvalidInput',
            'workspace is for the command line; name the agent whose workspace is meant',
          );
        folder = deps.explain.workspaceOf(caller.tenant, (await agentOf(agent)).agent, {
          user,
          session: '',
        }).workspace;
        return folder;
      },
    },
    kind,
    withUser(kind, body, user),
  );
  if (kind === 'path' && answer.resolved !== undefined)
    return { ...answer, resolved: relative(folder, answer.resolved) || '.' };
  return kind === 'url' && body['dns'] === undefined ? withoutInnerNames(answer) : answer;
}

function userIn({ context }: Readonly<Record<string, unknown>>): string | undefined {
  const user =
    typeof context === 'object' && context !== null && 'user' in context ? context.user : undefined;
  return typeof user === 'string' ? user : undefined;
}

function withUser(
  kind: ExplainKind,
  body: Readonly<Record<string, unknown>>,
  user: string | undefined,
): Readonly<Record<string, unknown>> {
  if (kind !== 'tool' || user === undefined) return body;
  const { context } = body;
  return { ...body, context: { ...(typeof context === 'object' ? context : {}), user } };
}

/** Callers do not learn what the names of the server's own network resolve to. */
function withoutInnerNames(answer: ExplainAnswer): ExplainAnswer {
  if (answer.decision !== 'deny' || !answer.reason?.includes(' resolves to ')) return answer;
  const { address: _address, ...rest } = answer;
  return { ...rest, reason: 'the name does not lead to the public net' };
}
