/**
 * Nodes: other machines that agents use. A node joins by a pairing code, connects by itself, and declares its
 * capabilities. Each invocation is a row before it is sent, and an id in the node's journal before it runs.
 */
import { matchGlob } from '@tempoclaw/shell-judge/glob';

export const NODE_LIMITS = {
  /** Nodes of a tenant. */
  nodes: 100,
  /** Invocations of one node that wait or run. */
  open: 100,
  /** Invocations that are sent to it at once. */
  atOnce: 8,
  /** Bytes of a message between the two. */
  frame: 2 * 1_048_576,
  /** Characters of parameters, as JSON. */
  params: 65_536,
  /** Characters of one result. */
  output: 262_144,
  /** Seconds that one may take, including its wait for the node. */
  seconds: 600,
} as const;

export const CODE_MINUTES = 10;
/** Wrong tries after which the code is invalid. */
export const CODE_TRIES = 5;
/** On both sides, a peer that was silent for two of these counts as dead. */
export const PING_MS = 15_000;

/** Why the API closes a connection, so that the node does not return. */
export const CLOSED = { revoked: 4401, replaced: 4409, wrong: 4400 } as const;

/**
 * The activity that calls a node which takes its work from a task queue. A node that is silent for this long counts as
 * dead.
 */
export const NODE_WORK = { type: 'node_invoke', heartbeatMs: PING_MS } as const;

/** Purpose of the key that seals what goes to a node by its queue; it is derived from the node's token. */
export const NODE_SEAL = 'node-seal';

/** The task queue of a node. The server chooses it, so that no two nodes share one. */
export function nodeQueue(tenant: string, id: string): string {
  return `node/${tenant}/${id}`;
}

/** The place of a payload of such an activity, for sealing and opening it. */
export function nodeWorkPlace(id: string, part: 'asked' | 'result'): string {
  return `${id}/${part}`;
}

/**
 * The time that is left for such an activity after a wait, measured by Temporal's and the node's clocks. Temporal
 * delivers no activity whose time is over. If the clocks say that it is, or that it was requested in the future, they
 * differ and are ignored.
 */
export function timeLeft(milliseconds: number, waited: number): number {
  return waited > 0 && waited < milliseconds ? milliseconds - waited : milliseconds;
}

/** A capability that a node declares. */
export interface Capability {
  readonly name: string;
  /** Includes its parameters, for the model. */
  readonly description: string;
}

/** What a node reports about itself. */
export interface NodeAbout {
  readonly platform: string;
  readonly version: string;
  /** Its id. A node that has lost its journal does not get again what it may have done. */
  readonly journal: string;
  /** Its task queue; absent if it takes its work from the connection that reports this. */
  readonly task_queue?: string | undefined;
  readonly capabilities: readonly Capability[];
}

export const CAPABILITY = /^[a-z][a-z0-9_-]{0,31}(\.[a-z][a-z0-9_-]{0,31}){0,3}$/;

/** Capabilities of our own node that change nothing there. */
const READS = new Set(['system.info', 'file.read']);

export function onlyReadsThere(capability: unknown): boolean {
  return typeof capability === 'string' && READS.has(capability);
}

/** Its usable capabilities: those that it declares, as far as its invitation allows them. */
export function offeredCapabilities(
  about: NodeAbout | null,
  allowed: readonly string[] | null,
): readonly Capability[] {
  const declared = about?.capabilities ?? [];
  return allowed === null ? declared : declared.filter(({ name }) => allowed.includes(name));
}

/**
 * Whether one of the node's patterns allows a command. They match word for word, each a glob over one word; `**` at the
 * end is any number more. There is no shell, so that no word can become two.
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

/** Milliseconds before a node reconnects: growing, and not all nodes at once. */
export function reconnectDelay(failures: number, random: () => number): number {
  return Math.min(30_000, 500 * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
}
