/** What a worker and a tool host agree on: the activities, and what is sealed in their payloads. */
import type { ToolErrorCode } from '#domain/errors.ts';

/**
 * `run`: one run of a tool. `probe`: finds out whether a lost run took effect. `hook`: one run of a hook. A host that is
 * silent for `heartbeatMs` counts as dead.
 */
export const HOST_WORK = {
  run: 'run_code_tool',
  probe: 'probe_code_tool',
  hook: 'run_code_hook',
  heartbeatMs: 9_000,
  /** How long a tool whose time is over may take to notice it. */
  noticeMs: 2_000,
  /** How long runs may take to end when the host is to end; then they are cut off. */
  drainMs: 10_000,
} as const;

export const HOST_LIMITS = {
  /** Tool hosts of a tenant. */
  hosts: 20,
  /** Tools of one host. */
  tools: 100,
  /** Hooks of one host. */
  hooks: 20,
  /** Characters of what a tool returns. */
  output: 500_000,
  /** Characters of why a tool has failed. */
  message: 10_000,
  /** Characters of the JSON Schema of a tool's arguments. */
  parameters: 32_768,
  /** Characters of a secret's value that is sent to a host. */
  secret: 16_384,
  /** Characters of the shortest value that is hidden: one that is shorter would be found in words. */
  hidden: 6,
  /** Calls that one host runs at once. */
  atOnce: 50,
  timeoutSeconds: 86_400,
} as const;

/** Purpose of the key that seals payloads for a host; it is derived from the host's API key. */
export function sealPurpose(host: string): string {
  return `tool-host/${host}`;
}

export interface HostQueues {
  readonly runs: string;
  readonly probes: string;
  readonly hooks: string;
}

/**
 * The task queues of a host. The server chooses them, so that no two tenants share one. Runs have a queue for each
 * version of the tools and hooks: a process that still has those of before gets no call of the new ones. Any process of the host
 * may probe. Hooks have a queue of their own, so that none waits for tools that run long.
 */
export function hostQueues(tenant: string, host: string, version: string): HostQueues {
  const probes = `tools/${tenant}/${host}`;
  const runs = `${probes}/${version}`;
  return { runs, probes, hooks: `${runs}/hooks` };
}

/** In what a tool is written, and so which program takes its calls. TypeScript is what its definition does not name. */
export type ToolLanguage = 'python' | undefined;

/** A program takes every call of its queue, so each language has a queue of its own. */
export function queueOf(queue: string, language: ToolLanguage): string {
  return language === undefined ? queue : `${queue}/${language}`;
}

/** The place of a payload, for sealing and opening it. */
export function hostWorkPlace(activity: string, part: 'request' | 'result'): string {
  return `${activity}/${part}`;
}

export interface HostRequest {
  readonly tool: string;
  readonly input: unknown;
  readonly secrets: Readonly<Record<string, string>>;
  readonly context: {
    readonly idempotencyKey: string;
    readonly agent: string;
    readonly user: string | null;
    readonly session: string;
    readonly turn: string;
    readonly call: string;
  };
}

export interface HostHookRequest {
  readonly hook: string;
  readonly event: object;
  readonly secrets: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/** `nothing`: a probe found that the call has not taken effect. */
export type HostResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: ToolErrorCode; readonly message: string }
  | { readonly nothing: true };
