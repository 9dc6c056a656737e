/**
 * Nodes: other machines that agents use. A node joins by a pairing code, connects by itself, and declares what it can be asked; each
 * invocation is a row before it is sent, and an id in the node's journal before it is run.
 */
import { matchGlob } from '@tempoclaw/shell-judge/glob';
import type { ToolErrorCode } from '#domain/errors.ts';

export const NODE_LIMITS = {
  /** Of a tenant. */
  nodes: 100,
  /** Invocations of one node that wait or run. */
  open: 100,
  /** That it is sent at once. */
  atOnce: 8,
  /** Bytes of a message between the two. */
  frame: 2 * 1_048_576,
  /** Characters of parameters, as JSON. */
  params: 65_536,
  /** Characters of what comes of one. */
  output: 262_144,
  /** Seconds that one may take, its waiting for the node with it. */
  seconds: 600,
} as const;

export const CODE_MINUTES = 10;
/** Wrong ones, then the code is worth nothing. */
export const CODE_TRIES = 5;
/** Both sides: who has heard nothing for two of these takes the other for dead. */
export const PING_MS = 15_000;

/** Why the API closes a connection, so that the node does not come back. */
export const CLOSED = { revoked: 4401, replaced: 4409, wrong: 4400 } as const;

/** The activity by which a node is asked that takes its work from a task queue. One that is silent for so long is taken for dead. */
export const NODE_WORK = { type: 'node_invoke', heartbeatMs: PING_MS } as const;

/** Where one takes them from: said by the server, so that no two share one. */
export function nodeQueue(tenant: string, id: string): string {
  return `node/${tenant}/${id}`;
}

/** What a payload of such an activity is, to who seals and opens it. */
export function nodeWorkPlace(id: string, part: 'asked' | 'result'): string {
  return `${id}/${part}`;
}

/**
 * What is left of the time of such an activity that has waited so long by two clocks, Temporal's and the node's. Temporal gives out
 * nothing whose time is over: when they say so, or that it was asked in the future, they differ and say nothing.
 */
export function timeLeft(milliseconds: number, waited: number): number {
  return waited > 0 && waited < milliseconds ? milliseconds - waited : milliseconds;
}

/** What a node says that it can be asked. */
export interface Capability {
  readonly name: string;
  /** With its parameters, for the model. */
  readonly description: string;
}

/** What a node says of itself. */
export interface NodeAbout {
  readonly platform: string;
  readonly version: string;
  /** Its id: a node that has lost its journal is not sent again what it may have done. */
  readonly journal: string;
  /** Where it takes its work; absent: from the connection on which it says this. */
  readonly task_queue?: string | undefined;
  readonly capabilities: readonly Capability[];
}

/** What came of an invocation, as the node says it. */
export interface NodeResult {
  readonly ok: boolean;
  readonly code?: ToolErrorCode | undefined;
  readonly text: string;
}

export const CAPABILITY = /^[a-z][a-z0-9_-]{0,31}(\.[a-z][a-z0-9_-]{0,31}){0,3}$/;

/** Those of our own node that change nothing there. */
const READS = new Set(['system.info', 'file.read']);

export function onlyReadsThere(capability: unknown): boolean {
  return typeof capability === 'string' && READS.has(capability);
}

/** What it may be asked: what it declares, as far as it was invited for that. */
export function offeredCapabilities(
  about: NodeAbout | null,
  allowed: readonly string[] | null,
): readonly Capability[] {
  const declared = about?.capabilities ?? [];
  return allowed === null ? declared : declared.filter(({ name }) => allowed.includes(name));
}

/**
 * Whether one of the node's patterns allows a command: word for word, each a glob over one word; `**` at the end is any number more.
 * There is no shell, so that no word can become two.
 */
export function mayRun(patterns: readonly string[], argv: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const words = pattern.trim().split(/\s+/);
    const takesMore = words.at(-1) === '**';
    const fixed = takesMore ? words.slice(0, -1) : words;
    const fits = takesMore ? argv.length >= fixed.length : argv.length === fixed.length;
    return fits && argv.length > 0 && fixed.every((word, at) => matchGlob(word, argv[at] ?? ''));
  });
}

/** Milliseconds before a node comes back: ever longer, and not all at once. */
export function reconnectDelay(failures: number, random: () => number): number {
  return Math.min(30_000, 500 * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
}
