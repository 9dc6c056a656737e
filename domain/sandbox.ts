/**
 * SH-3: what box an agent's commands run in. The settings of `tempoclaw.yaml` hold for every agent that does not say
 * otherwise; two of them are also bounds, which no agent gets past: `mode: required` and `network: false`.
 */

import type { BoxSettings } from '@tempoclaw/sandbox/settings';
import type { CommandPlace } from '@tempoclaw/shell-judge';
import type { sandboxSettingsSchema } from './schema/sandbox.ts';
import type { Kept } from './schema/scalars.ts';

export const SANDBOX_MODES = ['off', 'preferred', 'required'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** Who shares a box: one session, one agent's sessions, or all of a tenant that work in the same workspace. */
export const SANDBOX_SCOPES = ['session', 'agent', 'shared'] as const;
export type SandboxScope = (typeof SANDBOX_SCOPES)[number];

/** How the workspace is seen at MOUNT. */
export const SANDBOX_WORKSPACES = ['rw', 'ro', 'none'] as const;

/** Where a command runs, as approvals tell it. */
export const RUNS_AT = ['container', 'bubblewrap', 'walled_host', 'host'] as const;
export type RunsAt = (typeof RUNS_AT)[number];

/** In the words of approvals. */
export const RUNS_AT_PLACE: Readonly<Record<CommandPlace, RunsAt>> = {
  image: 'container',
  system: 'bubblewrap',
  host: 'walled_host',
  open_host: 'host',
};

const RUNS_AT_WORDS: Readonly<Record<RunsAt, string>> = {
  container: 'in a container',
  bubblewrap: 'in bubblewrap',
  walled_host: 'on the host, not in a sandbox, behind the wall',
  host: 'on the host, not in a sandbox, and with no whole wall: it may reach TempoClaw’s own keys and ports',
};

/** For people. */
export function runsAtWords(runs: RunsAt): string {
  return RUNS_AT_WORDS[runs];
}

/** As it is written in settings and in an agent's row. */
export type SandboxSettings = Kept<typeof sandboxSettingsSchema>;

/** As it holds for a call; there is none for an agent whose mode is `off`. */
export interface Sandbox extends BoxSettings {
  readonly scope: SandboxScope;
}

/** A sandbox as an approval names it. */
export type SandboxTerms = { readonly mode: 'off' } | Omit<Sandbox, 'stated'>;

/** SECURITY R4 for pids; the others let a build or a test run through and a runaway not. */
export const DEFAULT_SANDBOX = {
  image: 'tempoclaw-sandbox',
  scope: 'session',
  network: false,
  workspace: 'rw',
  memory: '512m',
  cpus: 1,
  pids: 256,
} as const satisfies SandboxSettings;

/** Seconds a command has when nobody says otherwise (SH-3): on the host, and in a box. */
export const HOST_EXEC_SECONDS = 60;
export const BOX_EXEC_SECONDS = 300;

type Complete = { readonly [Key in keyof typeof DEFAULT_SANDBOX]: NonNullable<SandboxSettings[Key]> };

/** `everyone` is the settings' part, `own` the agent's. Undefined: commands run on the host. */
export function sandboxOf(
  everyone: SandboxSettings,
  own: SandboxMode | SandboxSettings | undefined,
): Sandbox | undefined {
  const agent: SandboxSettings = typeof own === 'string' ? { mode: own } : (own ?? {});
  const stated = agent.mode ?? everyone.mode;
  const mode = everyone.mode === 'required' ? 'required' : (stated ?? 'preferred');
  if (mode === 'off') return undefined;
  const all = { ...DEFAULT_SANDBOX, ...everyone, ...agent } as Complete;
  const { runtime } = { ...everyone, ...agent };
  return {
    mode,
    stated: stated !== undefined,
    image: all.image,
    scope: all.scope,
    network: everyone.network !== false && all.network,
    workspace: all.workspace,
    memoryBytes: bytesOf(all.memory),
    cpus: all.cpus,
    pids: all.pids,
    runtime,
  };
}

/**
 * What an approval is bound to beside the call: where and how it would run. Settings that come to the same are the same
 * here; one that is added later has to be left out where it is at its default, or what waits meanwhile is asked anew.
 */
export function sandboxTerms(sandbox: Sandbox | undefined): SandboxTerms {
  if (sandbox === undefined) return { mode: 'off' };
  const { stated: _, ...terms } = sandbox;
  return terms;
}

/** Text that `memorySchema` let through. */
export function bytesOf(size: string): number {
  const unit = /g$/i.test(size) ? 1_073_741_824 : 1_048_576;
  return Number.parseInt(size, 10) * unit;
}
