/** Runs one tool that may run: it opens, judges and reads the arguments, runs the tool, then scrubs the result. */
import type { CommandPlace } from '@tempoclaw/shell-judge';
import { MOUNT } from '@tempoclaw/sandbox/settings';
import { BOX_EXEC_SECONDS, HOST_EXEC_SECONDS, sandboxOf } from '#domain/sandbox.ts';
import type { DocumentAccess } from '#domain/files/document.ts';
import { type BoundFile, changedFiles } from '#domain/approval/bound-file.ts';
import { cleanOutsideText } from '#domain/text/hidden-text.ts';
import { storableText } from '#domain/text/storable-text.ts';
import { agentOfTurn } from '#domain/assignment/subagent-agent.ts';
import { taskGates } from '#domain/gate/gate.ts';
import { effectiveEgress, type EgressSettings } from '#domain/policy/effective-egress.ts';
import type { DocumentWritten } from '#domain/feature.ts';
import type { CallOutside } from '#domain/tool.ts';
import { type ReplayClass, toolError, type ToolResult } from '#domain/tool.ts';
import { Failure } from '#domain/errors.ts';
import type { RunToolInput } from '#domain/turn/turn-activities.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { Guards } from '../guards.ts';
import type { CallDeps } from './call-deps.ts';
import type { CreateCallReads } from './call-reads.ts';
import { callDigest } from './call-digest.ts';
import { TOOL_SEARCH } from '#policy/deferred-tools.ts';
import { isCommand, lineOf } from '#policy/exec-rules.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import type { CallToJudge, Verdict } from '#policy/call-rules.ts';
import { replayOf, type RunningCall, type Tool } from '#policy/define-tool.ts';
import type { ToolDeps } from './tool-deps.ts';
import type { RunnableCall } from './claimed-call.ts';
import { type JudgedDeps, notAsJudged } from './not-as-judged.ts';
import { realArgs } from './plan-calls.ts';
import { readArguments } from '#policy/read-arguments.ts';
import { isDatabaseFault } from '#store/postgres/pool.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import { withFileProblems } from '../workspace/file-problem.ts';
import { hasStandIns } from '#domain/turn/stand-ins.ts';
import { withTrace } from '../trace-scope.ts';
import type { WorkspaceOf } from '../workspace/workspace-folder.ts';

export interface PerformDeps extends CallDeps, JudgedDeps {
  readonly ledger: Pick<TurnLedger, 'appendEvents'>;
  readonly catalogs: AgentCatalogs;
  readonly tools: ToolDeps;
  readonly egressSettings: EgressSettings;
  readonly workspaceOf: WorkspaceOf;
  readonly callReads: CreateCallReads;
  readonly guards: Pick<Guards, 'command'>;
  readonly documentWritten: readonly DocumentWritten[];
}

/** The call has not run: it would now run other files than those approved. */
export interface FilesChanged {
  readonly changed: readonly string[];
  readonly files: readonly BoundFile[];
  /** Digest of the call with these files. */
  readonly digest: string;
}

/**
 * Errors in a tool are results for the model (EX-4). It throws only when Postgres or Temporal fails a tool that may run
 * again, so that it is retried when they are back. For other tools, the model reads whether it had started.
 */
export async function perform(
  deps: PerformDeps,
  tool: Tool,
  input: RunToolInput,
  claim: RunnableCall,
  signal: AbortSignal,
  outside?: CallOutside,
): Promise<ToolResult | FilesChanged> {
  // Its result is recorded with the answer that requests it; this comes first, so that nothing real can happen.
  if (hasStandIns(claim.context)) return toolError('ExecutionFailed', 'in a replay no tool runs');
  if (tool.gone !== undefined) return toolError('NotFound', tool.gone);
  let hasStarted = false;
  const run: typeof tool.run = (...values) => {
    hasStarted = true;
    return tool.run(...values);
  };
  try {
    const args = realArgs(deps.sealer, input.tenant, {
      id: input.call,
      args: claim.args,
      sealed: claim.sealed,
    });
    const other = await notAsJudged(deps, tool, input, { ...claim, args });
    if (other !== undefined) return toolError('PermissionDenied', other);
    const context = callContext(deps, tool, input, claim, signal);
    const { workspace } = context;
    const reads = deps.callReads({
      ...context,
      call: input.call,
      tool: tool.name,
      isAgain: claim.again === true,
      hide: deps.scrubber.text,
      scope: context.documents,
      outside: context.readOutside,
      mayRun: (command) => mayRunNow(deps, input.tenant, claim, command, workspace),
    });
    const call = { ...context, origins: reads.origins, outside };
    const performed = async (): Promise<ToolResult | FilesChanged> => {
      // A file that it runs has the effect of text that the model has read.
      const runs = claim.approved ? undefined : tool.runsFiles?.(args);
      const used = { ...claim.used, ...(runs && (await reads.ofRunFiles(runs))) };
      const refusal = await refusedAgain(deps, tool, input, { ...claim, used }, { args, workspace });
      if (refusal !== undefined)
        return reads.noted(toolError('PermissionDenied', refusal), { marks: false, acts: false });
      const line = lineOf(tool.name, args);
      const guarded = line === undefined ? undefined : await deps.guards.command(call, line);
      if (guarded) return reads.noted(guarded, { marks: false, acts: false });
      const read = readArguments(tool, undefined, args);
      if (!read.ok) return toolError('InvalidArgs', read.message);
      // This comes last, so that little time passes between this check and the start.
      const result =
        (claim.again ? await tool.probe?.(deps.tools, read.input, call) : undefined) ??
        (await changedSince(deps, tool, input, claim, args)) ??
        (await withFileProblems(() => run(deps.tools, read.input, call)));
      const acts = replayOf(tool, args) !== 'readonly';
      return 'changed' in result ? result : reads.noted(result, { marks: tool.outside === true, acts });
    };
    return await withTrace(input.tenant, claim.context, input.call, () =>
      withFileProblems(() => withKeptFiles(deps, tool, claim, call, performed)),
    );
  } catch (error) {
    const replay = replayOf(tool, claim.args);
    if (signal.aborted) return stoppedResult(replay);
    if (isAway(error)) return awayResult(replay, hasStarted, error);
    return toolError('ExecutionFailed', error instanceof Error ? error.message : 'the tool failed');
  }
}

/** Why the present rules do not permit the call; undefined when they do. */
async function refusedAgain(
  deps: PerformDeps,
  tool: Tool,
  { tenant }: RunToolInput,
  claim: RunnableCall,
  call: Pick<CallToJudge, 'args' | 'workspace'>,
): Promise<string | undefined> {
  const { approved, session, used } = claim;
  const user = claim.context.user ?? null;
  const known = approved ? {} : await deps.knownAddresses({ tenant, session, user, used }, [call.args]);
  const verdict = await judgeNow(deps, tool, claim, { ...call, ...known });
  if (verdict.verdict === 'deny') return verdict.reason;
  if (verdict.verdict === 'ask' && !approved) return `the rules now ask for an approval: ${verdict.reason}`;
  return undefined;
}

async function judgeNow(
  deps: PerformDeps,
  tool: Tool,
  claim: RunnableCall,
  call: Pick<CallToJudge, 'args' | 'addresses' | 'workspace'>,
): Promise<Verdict> {
  const { agent, tenant_policy, context, skills, allowlist, used } = claim;
  const scope = { agent, user: context.user ?? null, tenant_policy, context, skills, allowlist, used };
  return deps.rules.judge({ ...scope, ...call, tool, place: await placeFor(deps, tool, claim) });
}

async function mayRunNow(
  deps: PerformDeps,
  tenant: string,
  claim: RunnableCall,
  command: string,
  workspace: string,
): Promise<boolean> {
  const exec = (await deps.catalogs.of(tenant, claim.agent.key)).find('exec')?.tool;
  if (exec === undefined) return false;
  return (await judgeNow(deps, exec, claim, { args: { command }, workspace })).verdict === 'allow';
}

/** Approved files, and links that a command is judged by, are kept unchanged until it runs. */
async function withKeptFiles<Result>(
  { tools }: PerformDeps,
  tool: Tool,
  { approved }: RunnableCall,
  call: RunningCall,
  run: () => Promise<Result>,
): Promise<Result> {
  const mayChange = isCommand(tool.name) || (approved && tool.runsFiles);
  const leave = mayChange ? await tools.files.keep?.(call) : undefined;
  try {
    return await run();
  } finally {
    await leave?.();
  }
}

/** Tools that call services of their own interpret those errors themselves. */
function isAway(error: unknown): boolean {
  return isDatabaseFault(error) || (error instanceof Failure && error.type === 'Unavailable');
}

function awayResult(replay: ReplayClass, hasStarted: boolean, error: unknown): ToolResult {
  if (replay !== 'once') throw error;
  return hasStarted
    ? toolError(
        'OutcomeUnknown',
        'what the tool needs failed while it ran; whether it took effect is not known',
      )
    : toolError('ExecutionFailed', 'what the tool needs failed before it began; the call has not run');
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
  tool: Tool,
  input: RunToolInput,
  claim: RunnableCall,
  signal: AbortSignal,
): RunningCall & { readonly documents: DocumentAccess } {
  const { agent, context } = claim;
  // What a tool writes that reads from outside was itself read there.
  const readOutside = deps.rules.outside({ ...claim.used, [tool.name]: input.call });
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
    calledAs: claim.called_as,
    egress: effectiveEgress(deps.egressSettings, [claim.tenant_policy?.egress, agent.egress]),
    hasSecret: (text) => deps.scrubber.text(text) !== text,
    exec: {
      timeoutSeconds: agent.exec?.timeout_seconds ?? HOST_EXEC_SECONDS,
      boxTimeoutSeconds: agent.exec?.timeout_seconds ?? BOX_EXEC_SECONDS,
    },
    ...(sandbox === undefined ? {} : { sandbox, mount: MOUNT }),
    subagent: context.subagent,
    fork: context.fork,
    thinking: agentOfTurn(agent, context).thinking,
    team: context.team,
    isTaskJudged: taskGates(agent, context).length > 0 ? (true as const) : undefined,
    roles: context.roles ?? [],
    key: context.key,
    readOutside,
    offeredTools: async () => deps.rules.offered(claim, await deps.catalogs.of(input.tenant, agent.key)),
    async findableTools() {
      const catalog = await deps.catalogs.of(input.tenant, agent.key);
      return deps.rules.offered(claim, catalog).flatMap((name) => {
        const { mcp, keywords } = catalog.find(name)?.tool ?? {};
        const isOfServer = mcp !== undefined;
        const offered = name === TOOL_SEARCH ? [] : catalog.offer(agent.tool_names ?? 'canonical', [name]);
        return offered.map((tool) => ({ ...tool, isOfServer, keywords }));
      });
    },
    ...workspace,
    documents: documentAccess(deps, input.tenant, claim, shows, readOutside),
    signal,
    idempotencyKey: `${input.tenant}/${input.call}`,
    progress: (text) => {
      const data = { call_id: input.call, text: storableText(deps.scrubber.text(cleanOutsideText(text))) };
      const key = { tenant: input.tenant, session: claim.session, turn: claim.turn };
      // Only for the event feed: a lost piece is still part of the result.
      deps.ledger.appendEvents(key, [{ type: 'tool.output', data }]).catch(() => undefined);
    },
  };
}

function documentAccess(
  { scrubber, documentWritten }: PerformDeps,
  tenant: string,
  { agent, context, documents }: RunnableCall,
  shows: DocumentAccess['shows'],
  readOutside: UsedTools,
): DocumentAccess {
  const scope = { tenant, agent: agent.key, user: context.user ?? null, type: agent.type };
  return {
    ...scope,
    version: documents,
    shows,
    author: `agent:${agent.key}`,
    outside: () => readOutside,
    hide: scrubber.text,
    async onWritten(path) {
      for (const written of documentWritten) await written(scope, path, false);
    },
  };
}

/** The place decides what may run without asking. */
async function placeFor({ placeOf }: PerformDeps, tool: Tool, claim: RunnableCall): Promise<CommandPlace> {
  return isCommand(tool.name) ? placeOf(claim.agent.sandbox ?? null) : 'host';
}

/** A stopped tool that changes nothing has simply not answered; for any other it is unknown how far it got. */
function stoppedResult(replay: ReplayClass): ToolResult {
  if (replay === 'readonly') return toolError('Cancelled', 'the call was stopped');
  return toolError('Cancelled', 'the call was stopped while it ran; what it had done by then stays done');
}
