/**
 * Runs hooks one after the other, each on the result of the previous one (domain/turn/hook.ts). They fail closed: a hook
 * that cannot be called, returns nothing readable, or is late denies. A retry of the step calls them again, as it does
 * the model.
 */
import { randomUUID } from 'node:crypto';
import {
  type Hook,
  type HookAnswer,
  hookName,
  type HookRun,
  hooksOfCall,
  hooksOfPrompt,
  readModelAnswer,
  startRefusal,
} from '#domain/turn/hook.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { effectiveEgress, type EgressSettings } from '#domain/policy/effective-egress.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { type SandboxSettings, sandboxOf } from '#domain/sandbox.ts';
import { HOOK_LIMITS } from '#domain/schema/hook.ts';
import { storableText } from '#domain/text/storable-text.ts';
import { policyToolOf } from '#policy/call-rules.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import type { Guard, GuardOutcome, GuardScope, GuardTime } from '#activities/guards.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import { generateWithFallback } from '#activities/model/fallback.ts';
import { type Models, useOf } from '#activities/model/model-catalog.ts';
import { type GateCommand, runWithInput } from '#activities/gates/gate-command.ts';
import type { Shell } from '@tempoclaw/sandbox';
import type { Files } from '#activities/workspace/contract.ts';
import type { HookHost } from './hook-host.ts';
import { readAnswer } from './read-answer.ts';
import type { WorkspaceOf } from '#activities/workspace/workspace-folder.ts';

export interface HookDeps {
  /** Hooks of every agent. */
  readonly settings: readonly Hook[];
  readonly models: Models;
  readonly egress: Egress;
  readonly egressSettings: EgressSettings;
  readonly shell: Shell;
  readonly files: Pick<Files, 'hold'>;
  /** The settings' sandbox, for agents that do not choose another. */
  readonly sandbox: SandboxSettings;
  readonly workspaceOf: WorkspaceOf;
  readonly scrubberOf: ScrubberOf;
  /** Opens `secret://NAME`. */
  readonly resolve: (tenant: string, text: string) => Promise<string>;
  /** The same for hooks of the settings, whose names refer to secrets of the operator's tenant. */
  readonly resolveSetting: (text: string) => Promise<string>;
  /** Runs hooks of type `code`; undefined without a feature that does. */
  readonly hookHost: () => HookHost | undefined;
}

/** What the hook is about: a call with its unmodified arguments, or what a user said. */
export interface HookSubject {
  readonly tool?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly prompt?: string;
}

interface Ruling {
  readonly name: string;
  readonly decision: HookAnswer['decision'];
  readonly why: string | undefined;
  /** It denies because it could not be run or gave no answer. */
  readonly hasFailed: boolean;
}

interface HookContext {
  readonly deps: HookDeps;
  readonly scope: GuardScope;
  readonly signal: AbortSignal;
  readonly onUse: (use: ModelUse) => void;
}

export function createHooks(deps: HookDeps): Required<Pick<Guard, 'ofCall' | 'ofPrompt'>> {
  const layersOf = ({ tenant_policy, agent }: GuardScope) => [
    deps.settings,
    tenant_policy?.hooks,
    agent.hooks,
  ];
  const run = async (
    hooks: readonly Hook[],
    scope: GuardScope,
    subject: HookSubject,
    { signal: stopped, until }: GuardTime,
  ): Promise<GuardOutcome | undefined> => {
    if (hooks.length === 0) return undefined;
    const scrubber = await deps.scrubberOf(scope.tenant);
    const patience = Math.min(HOOK_LIMITS.chainSeconds * 1000, Math.max(0, until - performance.now()));
    const late = AbortSignal.timeout(Math.ceil(patience));
    const ran: HookRun[] = [];
    const uses: ModelUse[] = [];
    let outcome: HookAnswer = { decision: 'allow' };
    let remaining = subject;
    for (const hook of hooks) {
      const started = performance.now();
      const seconds = hook.timeout_seconds ?? HOOK_LIMITS.seconds;
      const signal = AbortSignal.any([stopped, late, AbortSignal.timeout(seconds * 1000)]);
      const name = storableText(scrubber.text(hookName(hook)));
      const request = { deps, scope, signal, onUse: (use: ModelUse) => void uses.push(use) };
      let hasFailed = false;
      const options = await answerOf(request, hook, remaining).catch((error: unknown): HookAnswer => {
        stopped.throwIfAborted();
        hasFailed = true;
        return { decision: 'deny', reason: `the hook ${name} failed: ${problemOf(error, signal)}` };
      });
      const { decision, reason, ...changes } = options;
      const changed = changedFields(remaining, changes);
      const why = reason === undefined ? undefined : storableText(scrubber.text(reason));
      const milliseconds = Math.round(performance.now() - started);
      ran.push({ hook: name, event: hook.event, decision, reason: why, changed, milliseconds });
      if (changed) remaining = { ...remaining, ...changes };
      if (decision !== 'allow')
        outcome = { decision, reason: wordsOf(hook, subject, { name, decision, why, hasFailed }) };
      if (decision === 'deny') break;
    }
    const input = remaining.input === subject.input ? undefined : remaining.input;
    const prompt = remaining.prompt === subject.prompt ? undefined : remaining.prompt;
    return { ...outcome, input, prompt, ran, uses };
  };
  return {
    ofCall: (scope, { tool, args }, within) =>
      run(
        hooksOfCall(layersOf(scope), policyToolOf(tool), args['action']),
        scope,
        { tool: tool.name, input: args },
        within,
      ),
    async ofPrompt(scope, prompt, isFirst, within) {
      const hooks = hooksOfPrompt(layersOf(scope));
      const hasStarted = hooks.some(({ event }) => event === 'session_start') && !(await isFirst());
      const called = hasStarted ? hooks.filter(({ event }) => event !== 'session_start') : hooks;
      return run(called, scope, { prompt }, within);
    },
  };
}

/** What the model reads of a decision: for work that would start, also what it was. */
function wordsOf(
  { event }: Hook,
  { tool, input }: HookSubject,
  { name, decision, why, hasFailed }: Ruling,
): string {
  if (event !== 'subagent_start' || decision !== 'deny') return why ?? `the hook ${name} says ${decision}`;
  return hasFailed ? `${event} hook error: ${why}` : startRefusal(tool, input?.['agent_key'], why);
}

function problemOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'it did not answer in time';
  return error instanceof Error ? error.message.slice(0, HOOK_LIMITS.reason) : 'it could not be asked';
}

/** Returns undefined when it has replaced nothing. */
function changedFields(
  before: HookSubject,
  { input, prompt }: Pick<HookAnswer, 'input' | 'prompt'>,
): string[] | undefined {
  const names = input ? Object.keys({ ...before.input, ...input }) : [];
  const fields = names.filter(
    (name) => JSON.stringify(before.input?.[name]) !== JSON.stringify(input?.[name]),
  );
  if (prompt !== undefined && prompt !== before.prompt) fields.push('prompt');
  return fields.length > 0 ? fields : undefined;
}

async function answerOf(request: HookContext, hook: Hook, subject: HookSubject): Promise<HookAnswer> {
  const { scope } = request;
  const event = {
    event: hook.event,
    tenant: scope.tenant,
    session_key: scope.session,
    turn_id: scope.turn,
    agent: scope.agent.key,
    user: scope.user,
    ...subject,
  };
  const input = await (hook.type === 'prompt'
    ? askModel(request, hook, event)
    : askCode(request, hook, event));
  const isOther = subject.input === undefined ? input.input !== undefined : input.prompt !== undefined;
  if (isOther) throw new Error('it replaces what it was not asked about');
  return input;
}

function askCode(requested: HookContext, hook: Hook, event: object): Promise<HookAnswer> {
  if (hook.type === 'code') return askHost(requested, hook, event);
  const text = JSON.stringify(event);
  return hook.type === 'command' ? runCommand(requested, hook, text) : askServer(requested, hook, text);
}

async function askHost({ deps, scope, signal }: HookContext, hook: Hook, event: object): Promise<HookAnswer> {
  const hookHost = deps.hookHost();
  if (!hookHost) throw new Error('nothing here runs hooks of type code');
  const { code = '', timeout_seconds: seconds = HOOK_LIMITS.seconds } = hook;
  return readAnswer(await hookHost.answer({ tenant: scope.tenant, code, event, seconds, signal }));
}

/** Exit 0 returns an answer, or none. Exit 2 denies with the text on standard error, as in other systems. */
async function runCommand(
  { deps, scope, signal }: HookContext,
  hook: Hook,
  input: string,
): Promise<HookAnswer> {
  const { tenant, agent, session } = scope;
  const { workspace, workspaceFrom } = deps.workspaceOf(tenant, agent, { ...scope.context, session });
  const command: GateCommand = {
    command: hook.command ?? '',
    input,
    seconds: hook.timeout_seconds ?? HOOK_LIMITS.seconds,
    sandbox: sandboxOf(deps.sandbox, agent.sandbox),
    owner: { tenant, agent: agent.key, sessionKey: session, workspace, workspaceFrom },
    id: `hook-${randomUUID()}`,
    signal,
  };
  const { ended, exitCode, stdout, stderr, reason } = await runWithInput(deps, command);
  signal.throwIfAborted();
  if (ended === 'exit' && exitCode === 2)
    return {
      decision: 'deny',
      reason: stderr.trim().slice(0, HOOK_LIMITS.reason).toWellFormed() || undefined,
    };
  if (ended === 'exit' && exitCode === 0) return readAnswer(stdout);
  throw new Error(reason ?? `it ended with ${exitCode ?? ended}${saying(stderr)}`);
}

function saying(stderr: string): string {
  const text = stderr.trim().slice(0, 500).toWellFormed();
  return text && `: ${text}`;
}

async function askServer(
  { deps, scope, signal }: HookContext,
  hook: Hook,
  body: string,
): Promise<HookAnswer> {
  const { tenant, tenant_policy } = scope;
  const rules = effectiveEgress(deps.egressSettings, [tenant_policy?.egress]);
  const limits = { redirects: 0, bytes: HOOK_LIMITS.answer, totalMs: HOOK_LIMITS.maxSeconds * 1000 };
  const client = deps.egress.open({ labels: { tenant, purpose: 'hook' }, rules, limits });
  try {
    const headers = new Headers({ 'content-type': 'application/json' });
    const isOfSettings = deps.settings.includes(hook);
    for (const [name, value] of Object.entries(hook.headers ?? {}))
      headers.set(name, isOfSettings ? await deps.resolveSetting(value) : await deps.resolve(tenant, value));
    const response = await client.fetch(hook.url ?? '', { method: 'POST', headers, body, signal });
    const text = await response.text();
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return readAnswer(text);
  } finally {
    await client.close();
  }
}

const JUDGE =
  'You decide whether an agent may do what stands below. Answer with one line and nothing else: ALLOW, or ASK: why a person must decide, or DENY: why.';

/** The subject is scrubbed for a model, which cannot replace any of it. */
async function askModel(
  { deps, scope, signal, onUse }: HookContext,
  hook: Hook,
  event: object,
): Promise<HookAnswer> {
  const scrubber = await deps.scrubberOf(scope.tenant);
  const refs = [hook.model ?? scope.agent.model].flat();
  const text = scrubber.text(JSON.stringify(event));
  // The model cannot judge what it does not see.
  if (text.length > HOOK_LIMITS.answer) throw new Error('this is too long to be shown to a model');
  const shown = markOutside({ id: randomUUID(), source: hook.event, text });
  const { answer, ref } = await generateWithFallback(
    deps.models,
    refs,
    {
      system: JUDGE,
      messages: [{ role: 'user', text: `${hook.prompt ?? ''}\n\n${shown}` }],
      tools: [],
      maxOutputTokens: 500,
      idempotencyKey: `hook.${randomUUID()}`,
      signal,
      onDelta: () => undefined,
    },
    { onFailed: onUse },
  );
  onUse(useOf(deps.models, 'hook', ref, answer.usage));
  const read = readModelAnswer(answer.text);
  if (!read) throw new Error('its model answered neither ALLOW, ASK nor DENY');
  return read;
}
