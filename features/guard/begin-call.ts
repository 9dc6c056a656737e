/** Begins a guarded call: its agent's rules judge it, and its row and the question to people are one commit. */
import { createHash } from 'node:crypto';
import { alwaysWords } from '#domain/approval/approval.ts';
import type { RecordedTerms } from '#domain/approval/approval-terms.ts';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { approvalIdOf } from '#domain/ids.ts';
import { storableText } from '#domain/text/storable-text.ts';
import { guardedCall } from '#activities/approvals/settle-guarded-call.ts';
import { MAIN_AGENT } from '#api/tenant-defaults.ts';
import type { ApiDeps } from '#api/deps.ts';
import { requireAgents } from '#api/require-agents.ts';
import type { Caller } from '#api/server/auth.ts';
import { signatureOf } from '#api/server/auth.ts';
import type { Verdict } from '#policy/call-rules.ts';
import { guardedTool } from '#policy/guarded-tool.ts';
import { findAgent } from '#store/agent-store.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { findTenantPolicy } from '#store/tenant-policy-store.ts';
import type { z } from 'zod';
import { type guardedCalls, MAX_ARGUMENTS } from './resource.ts';
import {
  findAllowed,
  findGuardedCall,
  type GuardedCallRow,
  type GuardQuestion,
  insertGuardedCall,
} from './store.ts';

type BeginRequest = z.output<(typeof guardedCalls.operations)['beginGuardedCall']['body']>;

/**
 * Safe to repeat: the first request with an id decides. @throws Failure Conflict for another call with the id,
 * InvalidInput, Unprocessable
 */
export async function beginCall(
  deps: ApiDeps,
  caller: Caller,
  db: TenantDb,
  id: string,
  request: BeginRequest,
): Promise<GuardedCallRow> {
  refuseRequest(deps, request);
  const { tenant } = caller;
  const approvalId = approvalIdOf(tenant, id);
  const parts = { scrubber: await deps.secrets.vault.scrubberOf(tenant), sealer: deps.secrets.sealer };
  const shown = guardedCall(parts, { tenant, id: approvalId }, request.tool, request.args);
  const known = await findGuardedCall(db, id);
  if (known) return sameCall(known, request, shown.digest);
  const { agent: agent_key = MAIN_AGENT } = request;
  const verdict = await judge(deps, caller, db, request);
  const { sealed, ...row } = shown;
  await insertGuardedCall(
    db,
    {
      id,
      session_key: sessionOf(caller, agent_key, request),
      agent_key,
      user_id: caller.user,
      namespace: request.namespace,
      workflow_id: request.workflow_id,
      run_id: request.run_id,
      tool: request.tool,
      replay: request.replay,
      ...row,
      verdict: verdict.verdict,
      reason: verdict.verdict === 'allow' ? null : storableText(parts.scrubber.text(verdict.reason)),
      created_by: signatureOf(caller),
    },
    verdict.verdict === 'ask'
      ? questionOf(deps, approvalId, request, verdict, shown.args, sealed)
      : undefined,
  );
  const started = await findGuardedCall(db, id);
  if (!started) throw new Failure('Conflict', 'The session of this call was forgotten while it began');
  if (verdict.verdict === 'ask') deps.notifier.notify(tenant, started.session_key, true);
  return sameCall(started, request, shown.digest);
}

function refuseRequest(deps: ApiDeps, { tool, args }: BeginRequest): void {
  if (JSON.stringify(args).length > MAX_ARGUMENTS)
    throw fieldFailure(
      'InvalidInput',
      'body/args',
      `have more than ${MAX_ARGUMENTS} characters; pass the guard fewer of them`,
    );
  if (deps.tools.isNative(tool))
    throw fieldFailure(
      'Unprocessable',
      'body/tool',
      `${tool} is a tool of TempoClaw; give the activity another name for rules`,
    );
}

function sameCall(row: GuardedCallRow, { tool }: BeginRequest, digest: string): GuardedCallRow {
  if (row.tool === tool && row.digest === digest) return row;
  throw new Failure('Conflict', `The call ${row.id} was begun before with another tool or other arguments`);
}

async function judge(
  deps: ApiDeps,
  { user }: Caller,
  db: TenantDb,
  { agent: key = MAIN_AGENT, tool, replay, args }: BeginRequest,
): Promise<Verdict> {
  await requireAgents(db, [['body/agent', key]]);
  const agent = await findAgent(db, key);
  if (!agent) throw fieldFailure('Unprocessable', 'body/agent', `there is no agent ${key}`);
  return deps.rules.judge({
    agent: agent.config,
    tenant_policy: await findTenantPolicy(db),
    context: user === null ? {} : { user },
    user,
    tool: guardedTool(tool, replay),
    args,
    allowlist: await findAllowed(db, key, user),
    used: {},
  });
}

/** One session for each workflow, agent and user: its feed has the questions, and forgetting it removes the calls. */
function sessionOf({ user }: Caller, agent: string, { namespace, workflow_id }: BeginRequest): string {
  const place = JSON.stringify([namespace, workflow_id, agent, user]);
  return `guard:${createHash('sha256').update(place).digest('hex').slice(0, 32)}`;
}

function questionOf(
  { rules, guard }: ApiDeps,
  id: string,
  { tool, replay }: BeginRequest,
  { terms = {} }: Extract<Verdict, { readonly verdict: 'ask' }>,
  args: Readonly<Record<string, unknown>>,
  sealed: string | null,
): GuardQuestion {
  const always =
    sealed === null
      ? rules.alwaysOffer({ tool, args, place: 'host', quorum: terms.quorum })
      : ({ refused: 'it holds a secret' } as const);
  // The workers that ask are clients of a Temporal server, which may be ours.
  const recorded: RecordedTerms = { ...terms, guarded: replay, decision_token: true };
  const expires = terms.expires_seconds ?? guard.approvalSeconds;
  return { id, terms: recorded, always, words: alwaysWords(always), sealed, expires };
}
