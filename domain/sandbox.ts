/**
 * SH-3: the sandbox that an agent's commands run in. The settings of `tempoclaw.yaml` apply to every agent that sets
 * nothing else. Two of them are also limits that no agent can exceed: `mode: required` and `network: false`.
 */

import type { BoxSettings } from '@tempoclaw/sandbox/settings';
import type { CommandPlace } from '@tempoclaw/shell-judge';
import type { SandboxMode, sandboxSettingsSchema, SandboxScope } from './schema/sandbox.ts';
import type { Kept } from './schema/scalars.ts';

/** Where a command runs, in the values that approvals use. */
export const RUNS_AT = ['container', 'bubblewrap', 'walled_host', 'host'] as const;
export type RunsAt = (typeof RUNS_AT)[number];

/** Maps the judge's places to the values of approvals. */
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

/** The place in words for people. */
export function runsAtWords(runs: RunsAt): string {
  return RUNS_AT_WORDS[runs];
}

/** The sandbox as settings and an agent's row write it. */
export type SandboxSettings = Kept<typeof sandboxSettingsSchema>;

/** The sandbox for a call; undefined for an agent whose mode is `off`. */
export interface Sandbox extends BoxSettings {
  readonly scope: SandboxScope;
}

/** The sandbox as an approval names it. */
export type SandboxTerms = { readonly mode: 'off' } | Omit<Sandbox, 'stated'>;

/** The other limits permit a build or a test run and stop a runaway process. */
export const DEFAULT_SANDBOX = {
  image: 'tempoclaw-sandbox',
  scope: 'session',
  network: false,
  workspace: 'rw',
  memory: '512m',
  cpus: 1,
  pids: 256,
} as const satisfies SandboxSettings;

/** Default time limit of a command in seconds (SH-3): on the host, and in a sandbox. */
export const HOST_EXEC_SECONDS = 60;
export const BOX_EXEC_SECONDS = 300;

type Complete = { readonly [Key in keyof typeof DEFAULT_SANDBOX]: NonNullable<SandboxSettings[Key]> };

/** `everyone` is the settings' part, `own` the agent's. Undefined when commands run on the host. */
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
 * What an approval is bound to beside the call: where and how it would run. Settings with the same effect are equal
 * here. A setting that is added later must be left out at its default; otherwise waiting approvals are asked again.
 */
export function sandboxTerms(sandbox: Sandbox | undefined): SandboxTerms {
  if (sandbox === undefined) return { mode: 'off' };
  const { stated: _, ...terms } = sandbox;
  return terms;
}

/** Converts a size that the schema of the settings has accepted, such as `512m`. */
export function bytesOf(size: string): number {
  const unit = /g$/i.test(size) ? 1_073_741_824 : 1_048_576;
  return Number.parseInt(size, 10) * unit;
}
