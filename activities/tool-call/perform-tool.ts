/** Runs one tool that may run: arguments opened, judged again, read and given to it; then its result as others may see it. */
import { BOX_EXEC_SECONDS, HOST_EXEC_SECONDS, MOUNT, sandboxOf, sandboxTerms } from '#domain/sandbox.ts';
import { type DocumentAccess, documentKind } from '#domain/document.ts';
import type { CommandPlace } from '#domain/shell/allowlist.ts';
import { type BoundFile, changedFiles } from '#domain/bound-file.ts';
import { storableText } from '#domain/storable-text.ts';
import { agentOfTurn } from '#domain/subagent-agent.ts';
import { taskGates } from '#domain/gate.ts';
import { effectiveEgress, type EgressSettings } from '#domain/policy/effective-egress.ts';
import type { NewEvent } from '#domain/event.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { CallOutside } from '#domain/left-call.ts';
import { MODEL_RESULT_BYTES, type ReplayClass, toolError, type ToolResult } from '#domain/tool.ts';
import { Failure, type ToolErrorCode } from '#domain/errors.ts';
import type { ChildStart, RunToolInput, RunToolResult } from '#domain/turn.ts';
import type { CallDeps } from './call-deps.ts';
import { callDigest, canonical } from './call-digest.ts';
import { isCommand } from '#policy/exec-rules.ts';
import { cutText } from '#domain/cut-text.ts';
import type { AgentCatalogs } from '#policy/custom-tools/agent-catalogs.ts';
import { replayOf, type RunningCall, type Tool } from '#policy/define-tool.ts';
import type { ToolDeps } from './tool-deps.ts';
import type { RunnableCall } from '../fast-path/fast-path.ts';
import { realArgs } from './plan-calls.ts';
import { shownImages } from './result-images.ts';
import { readArguments } from '#policy/read-arguments.ts';
import { isDatabaseFault } from '#store/pool.ts';
import type { NewImage, TurnLedger } from '#store/turn-ledger.ts';
import { startIndexing } from '#temporal/start-indexing.ts';
import type { WorkspaceOf } from '../workspace/workspace-folder.ts';

export interface PerformDeps extends CallDeps {
  readonly ledger: Pick<TurnLedger, 'appendEvents'>;
  readonly catalogs: AgentCatalogs;
  readonly tools: ToolDeps;
  readonly egressSettings: EgressSettings;
  readonly workspaceOf: WorkspaceOf;
  readonly reach: Pick<WorkflowReach, 'signalWithStart'>;
}

/** The call has not run: what it would run now is not what was approved. */
export interface FilesChanged {
  readonly changed: readonly string[];
  readonly files: readonly BoundFile[];
  /** Of the call with these files. */
  readonly digest: string;
}

/**
 * What goes wrong in a tool is a result for the model (EX-4). Throws only when Postgres or Temporal fails a tool that may run again: it
 * is run again when they are back. Of one that may not, the model reads whether it had begun.
 */
export async function perform(
  deps: PerformDeps,
  tool: Tool,
  input: RunToolInput,
  claim: RunnableCall,
  signal: AbortSignal,
  outside?: CallOutside,
): Promise<ToolResult | FilesChanged> {
  if (tool.gone !== undefined) return toolError('NotFound', tool.gone);
  let hasBegun = false;
  const run: typeof tool.run = (...given) => {
    hasBegun = true;
    return tool.run(...given);
  };
  try {
    const args = realArgs(deps.sealer, input.tenant, {
      id: input.call,
      args: claim.args,
      sealed: claim.sealed,
    });
    const other = otherThanJudged(deps, tool, claim, args);
    if (other !== undefined) return toolError('PermissionDenied', other);
    const user = claim.context.user ?? null;
    const verdict = deps.rules.judge({
      agent: claim.agent,
      user,
      tenant_policy: claim.tenant_policy,
      context: claim.context,
      skills: claim.skills,
      tool,
      args,
      allowlist: claim.allowlist,
      used: claim.used,
      place: await placeFor(deps, tool, claim),
    });
    if (verdict.verdict === 'deny') return toolError('PermissionDenied', verdict.reason);
    if (verdict.verdict === 'ask' && !claim.approved)
      return toolError('PermissionDenied', `the rules now ask for an approval: ${verdict.reason}`);
    const read = readArguments(tool, undefined, args);
    if (!read.ok) return toolError('InvalidArgs', read.message);
    const call = { ...callContext(deps, input, claim, signal), outside };
    // Last, so that as little time as may be is left between this look and the start.
    return await withApprovedFiles(
      deps,
      tool,
      claim,
      call,
      async () =>
        (claim.again ? await tool.probe?.(deps.tools, read.input, call) : undefined) ??
        (await changedSince(deps, tool, input, claim, args)) ??
        run(deps.tools, read.input, call),
    );
  } catch (error) {
    const replay = replayOf(tool, claim.args);
    if (signal.aborted) return stoppedResult(replay);
    if (isAway(error)) return awayResult(replay, hasBegun, error);
    return toolError('ExecutionFailed', error instanceof Error ? error.message : 'the tool failed');
  }
}

/** Files that were approved stay what they are until they are run. */
async function withApprovedFiles<Result>(
  { tools }: PerformDeps,
  tool: Tool,
  { approved }: RunnableCall,
  call: RunningCall,
  run: () => Promise<Result>,
): Promise<Result> {
  const leave = approved && tool.runsFiles ? await tools.files.keep?.(call) : undefined;
  try {
    return await run();
  } finally {
    await leave?.();
  }
}

/** Tools that ask services of their own say themselves what their errors mean. */
function isAway(error: unknown): boolean {
  return isDatabaseFault(error) || (error instanceof Failure && error.type === 'Unavailable');
}

function awayResult(replay: ReplayClass, hasBegun: boolean, error: unknown): ToolResult {
  if (replay !== 'once') throw error;
  return hasBegun
    ? toolError(
        'OutcomeUnknown',
        'what the tool needs failed while it ran; whether it took effect is not known',
      )
    : toolError('ExecutionFailed', 'what the tool needs failed before it began; the call has not run');
}

/** Why the call is not the one that was judged; undefined when it is. */
function otherThanJudged(
  deps: PerformDeps,
  tool: Tool,
  claim: RunnableCall,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  const bound = claim.sandbox ?? undefined;
  if (bound && canonical(bound) !== canonical(sandboxTerms(sandboxOf(deps.sandbox, claim.agent.sandbox))))
    return movedSince(claim);
  const digest = callDigest(claim.tool, args, tool.definition, bound, claim.files ?? []);
  return digest === claim.digest ? undefined : unlike(tool);
}

async function changedSince(
  deps: PerformDeps,
  tool: Tool,
  { tenant }: RunToolInput,
  claim: RunnableCall,
  args: Readonly<Record<string, unknown>>,
): Promise<FilesChanged | undefined> {
  if (!claim.approved) return undefined;
  const files = await deps.boundFiles({ ...claim, tenant, tool, args, scrubber: deps.scrubber });
  const changed = changedFiles(claim.files ?? [], files);
  if (changed.length === 0) return undefined;
  const digest = callDigest(claim.tool, args, tool.definition, claim.sandbox, files);
  return { changed, files, digest };
}

function callContext(
  deps: PerformDeps,
  input: RunToolInput,
  claim: RunnableCall,
  signal: AbortSignal,
): RunningCall {
  const { agent, context } = claim;
  const sandbox = sandboxOf(deps.sandbox, agent.sandbox);
  const { shows, ...workspace } = deps.workspaceOf(input.tenant, agent, {
    ...context,
    session: claim.session,
  });
  return {
    tenant: input.tenant,
    agent: agent.key,
    user: context.user ?? null,
    sessionKey: claim.session,
    turnId: claim.turn,
    channel: context.channel ?? null,
    chatId: context.chat_id ?? null,
    callId: input.call,
    askedAs: claim.asked_as,
    egress: effectiveEgress(deps.egressSettings, [claim.tenant_policy?.egress, agent.egress]),
    hasSecret: (text) => deps.scrubber.text(text) !== text,
    exec: {
      timeoutSeconds: agent.exec?.timeout_seconds ?? HOST_EXEC_SECONDS,
      boxTimeoutSeconds: agent.exec?.timeout_seconds ?? BOX_EXEC_SECONDS,
    },
    ...(sandbox === undefined ? {} : { sandbox, mount: MOUNT }),
    subagent: context.subagent,
    thinking: agentOfTurn(agent, context).thinking,
    team: context.team,
    isTaskJudged: taskGates(agent, context).length > 0 ? (true as const) : undefined,
    roles: context.roles ?? [],
    key: context.key,
    used: Object.keys(claim.used),
    offeredTools: async () => deps.rules.offered(claim, await deps.catalogs.of(input.tenant, agent.key)),
    async offeredMcpTools() {
      const catalog = await deps.catalogs.of(input.tenant, agent.key);
      const names = deps.rules.offered(claim, catalog).filter((name) => catalog.find(name)?.tool.mcp);
      return catalog.offer('canonical', names);
    },
    ...workspace,
    documents: documentAccess(deps, input.tenant, claim, shows),
    signal,
    idempotencyKey: `${input.tenant}/${input.call}`,
    progress: (text) => {
      const data = { call_id: input.call, text: storableText(deps.scrubber.text(text)) };
      const key = { tenant: input.tenant, session: claim.session, turn: claim.turn };
      // Only for those who watch: a piece that is lost is part of the result all the same.
      deps.ledger.appendEvents(key, [{ type: 'tool.output', data }]).catch(() => undefined);
    },
  };
}

function documentAccess(
  { catalogs, scrubber, reach }: PerformDeps,
  tenant: string,
  { agent, context, documents, used }: RunnableCall,
  shows: DocumentAccess['shows'],
): DocumentAccess {
  const scope = { tenant, agent: agent.key, user: context.user ?? null, type: agent.type };
  return {
    ...scope,
    version: documents,
    shows,
    author: `agent:${agent.key}`,
    async outside() {
      const catalog = await catalogs.of(tenant, agent.key);
      // What is no more there may have been anything.
      return Object.keys(used).some((name) => (catalog.find(name)?.tool ?? { outside: true }).outside);
    },
    hide: scrubber.text,
    async onWritten(path) {
      if (documentKind(path) === 'memory') await startIndexing(reach, scope);
    },
  };
}

/** What may run unasked depends on where it runs. */
async function placeFor({ placeOf }: PerformDeps, tool: Tool, claim: RunnableCall): Promise<CommandPlace> {
  return isCommand(tool.name) ? placeOf(claim.agent.sandbox ?? null) : 'host';
}

function movedSince({ agent }: RunnableCall): string {
  return `the sandbox setting of agent ${agent.key} has changed since this was approved; the call has not run. Make it again to have it asked anew.`;
}

function unlike({ definition, name }: Tool): string {
  return definition === undefined
    ? 'the recorded arguments are not those that were judged; the call has not run'
    : `${name} was changed after the call had been judged; the call has not run`;
}

/** A stopped tool that changes nothing has simply not answered; of any other nobody knows how far it came. */
function stoppedResult(replay: ReplayClass): ToolResult {
  if (replay === 'readonly') return toolError('Cancelled', 'the call was stopped');
  return toolError('Cancelled', 'the call was stopped while it ran; what it had done by then stays done');
}

/** A result scrubbed and cut: for the model, the ledger, the feed and history. */
export interface ShownResult {
  readonly outcome: RunToolResult;
  readonly code: ToolErrorCode | null;
  readonly text: string;
  /** More than the model reads (EX-5). */
  readonly whole?: string;
  readonly images?: readonly NewImage[];
  readonly child?: ChildStart;
  readonly events: readonly NewEvent[];
}

export function shownResult(
  { scrubber }: Pick<PerformDeps, 'scrubber'>,
  id: string,
  claim: RunnableCall,
  result: ToolResult,
  milliseconds: number,
): ShownResult {
  const child = result.ok ? result.child : undefined;
  const code = result.ok ? null : result.code;
  const scrubbed = storableText(scrubber.text(result.ok ? result.text : `${result.code}: ${result.message}`));
  const { text: words, whole } = cutText(scrubbed, MODEL_RESULT_BYTES, `/v1/tool-calls/${id}/result`);
  const given = result.ok ? (result.images ?? []) : [];
  const { images, lines } = shownImages(scrubber, id, given);
  const text = [words, ...lines].join('\n');
  const kept = result.whole === undefined ? whole : storableText(scrubber.text(result.whole));
  const preview = scrubber.preview(text, PREVIEW);
  const call = { call_id: id, tool: claim.tool, summary: claim.summary, step: claim.step };
  const completed = {
    ...call,
    ok: result.ok,
    code: code || undefined,
    preview,
    duration_ms: Math.round(milliseconds),
  };
  return {
    outcome: { ok: result.ok, ...(code ? { code } : { preview }), child },
    code,
    text,
    whole: kept,
    ...(images ? { images } : {}),
    child,
    events: [
      ...(claim.claimed ? [] : [{ type: 'tool.started', data: call } as const]),
      { type: 'tool.completed', data: completed },
    ],
  };
}

/** Characters of a result that history and the feed show. */
const PREVIEW = 200;
