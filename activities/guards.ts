/** Checks around prompts, calls and commands, which may refuse them; features provide them (domain/feature.ts). */
import type { AgentConfig } from '#domain/agent.ts';
import type { HookAnswer, HookRun } from '#domain/turn/hook.ts';
import { HOOK_LIMITS } from '#domain/schema/hook.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { hasStandIns } from '#domain/turn/stand-ins.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { ToolFailure } from '#domain/tool.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { PolicyTool } from '#domain/policy/tool-groups.ts';
import type { ParsedCall } from '#policy/catalog.ts';

/** The owner of the session, prompt or call. */
export interface GuardScope {
  readonly tenant: string;
  readonly session: string;
  /** Absent for a call that a person has edited. */
  readonly turn?: string;
  readonly agent: AgentConfig;
  readonly tenant_policy?: TenantPolicy | null | undefined;
  readonly user: string | null;
  readonly context: MessageContext;
}

/** A decision, with the changed arguments or prompt, and what the guard has run and used. */
export interface GuardOutcome extends HookAnswer {
  readonly ran: readonly HookRun[];
  readonly uses: readonly ModelUse[];
}

/** `until`: deadline of a whole step, by `performance.now()`; a check that has not ended by then denies. */
export interface GuardTime {
  readonly signal: AbortSignal;
  readonly until: number;
}

/** The deadline for the guards of a step that starts now: much less than its activity may take. */
export function guardsUntil(): number {
  return performance.now() + HOOK_LIMITS.stepSeconds * 1000;
}

/** A model call or a call of a tool that is about to start. */
export interface StartingWork {
  readonly tenant: string;
  /** The turn whose model is called, or that requested the call; or the call itself. */
  readonly of: { readonly turn: string } | { readonly call: string };
  /** Absent for a model call. */
  readonly tool?: PolicyTool;
}

export interface HeldBack {
  /** For people. */
  readonly reason: string;
  /** Resolves when it may be over, or the signal aborts. */
  untilOver(signal: AbortSignal): Promise<void>;
}

export interface Guard {
  /**
   * Why work must not start yet; undefined, at no cost, when it may. Called before anything is reserved or claimed for
   * it.
   */
  heldBack?(work: StartingWork): Promise<HeldBack | undefined>;
  /**
   * Runs before the rules judge a call. Throws only when its signal aborts; undefined, at no cost, when it does not
   * decide.
   */
  ofCall?(
    scope: GuardScope,
    call: Pick<ParsedCall, 'tool' | 'args'>,
    within: GuardTime,
  ): Promise<GuardOutcome | undefined>;
  /** The same before a prompt is read. `isFirst`: no prompt before it in the session was let through. */
  ofPrompt?(
    scope: GuardScope,
    prompt: string,
    isFirst: () => Promise<boolean>,
    within: GuardTime,
  ): Promise<GuardOutcome | undefined>;
  /** Why a command line must not run, as far as this process knows without I/O; for plans. */
  plannedCommand?(tenant: string, agent: string, command: string): string | undefined;
  /** The same by the rows, right before the command starts. It refuses when it cannot check. */
  command?(
    call: { readonly tenant: string; readonly agent: string },
    command: string,
  ): Promise<ToolFailure | undefined>;
}

export type Guards = Required<Guard>;

/** Calls one guard after the other; the first that decides wins. In a session with stand-ins none is called. */
export function joinGuards(guards: readonly Guard[]): Guards {
  const guardsFor = ({ context }: GuardScope): readonly Guard[] => (hasStandIns(context) ? [] : guards);
  return {
    ofCall: (scope, call, within) => firstOf(guardsFor(scope), (one) => one.ofCall?.(scope, call, within)),
    heldBack: (work) => firstOf(guards, (one) => one.heldBack?.(work)),
    ofPrompt: (scope, prompt, isFirst, within) =>
      firstOf(guardsFor(scope), (one) => one.ofPrompt?.(scope, prompt, isFirst, within)),
    plannedCommand(tenant, agent, command) {
      for (const one of guards) {
        const reason = one.plannedCommand?.(tenant, agent, command);
        if (reason !== undefined) return reason;
      }
      return undefined;
    },
    command: (call, command) => firstOf(guards, (one) => one.command?.(call, command)),
  };
}

async function firstOf<Opinion>(
  guards: readonly Guard[],
  ask: (guard: Guard) => Promise<Opinion | undefined> | undefined,
): Promise<Opinion | undefined> {
  for (const guard of guards) {
    const opinion = await ask(guard);
    if (opinion !== undefined) return opinion;
  }
  return undefined;
}
