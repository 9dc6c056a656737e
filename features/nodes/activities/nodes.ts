/**
 * What the tool `nodes` does. An invocation is a row before anything is sent. The process with the node's connection
 * sends it and records the result, and the call waits for that row, in any attempt.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_LIMITS, offeredCapabilities } from '../contract/node.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { type ToolFailure, type ToolResult, toolError } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import {
  giveUpInvocation,
  insertInvocation,
  type InvocationState,
  readInvocation,
} from '../store/node-invocation-store.ts';
import { findNode, listNodes, type NodeRow } from '../store/node-store.ts';
import { isStopped } from '#activities/attempt.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type QueueParts, workByQueue } from './by-queue.ts';

export interface NodeWish {
  readonly node: string;
  readonly capability: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly seconds: number;
}

type Caller = Pick<RunningCall, 'tenant' | 'callId' | 'sessionKey' | 'signal'>;

export interface Nodes {
  list(tenant: string): Promise<readonly NodeRow[]>;
  /** Finds a node that has joined. */
  find(tenant: string, name: string): Promise<NodeRow | ToolFailure>;
  /** Safe to repeat: a call invokes once. */
  invoke(call: Caller, wish: NodeWish): Promise<ToolResult>;
  /** Waits for the result of the call's invocation; undefined when there is none. */
  follow(call: Caller): Promise<ToolResult | undefined>;
}

/** A node has its own clock for what runs there, and its answer takes a while to arrive. */
const GRACE_MS = 5_000;

export function createNodes(parts: QueueParts & { readonly changes: Pick<ChangeFeed, 'subscribe'> }): Nodes {
  const { pool, sealer, changes } = parts;
  const waiting = new Set<{ readonly tenant: string; readonly wake: () => void }>();
  changes.subscribe('node_results', (tenant) => {
    for (const one of waiting) if (tenant === undefined || tenant === one.tenant) one.wake();
  });

  /** Waits until a result of the tenant's came, or the time is over. */
  async function someResult(
    waiter: AbortController,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<void> {
    const ends = AbortSignal.any([waiter.signal, signal]);
    await sleep(Math.min(milliseconds, LONGEST_MS), undefined, { signal: ends }).catch(() =>
      signal.throwIfAborted(),
    );
  }

  async function follow(call: Caller): Promise<ToolResult | undefined> {
    const { tenant, callId, signal } = call;
    for (;;) {
      // The waiter starts before the row is read, so that no notification in between is missed.
      const waiter = new AbortController();
      const entry = { tenant, wake: () => waiter.abort() };
      waiting.add(entry);
      try {
        const state = await readInvocation(pool, sealer, tenant, callId);
        if (!state) return undefined;
        const ended = endedResult(state);
        if (ended) return ended;
        const remaining = state.left + (state.status === 'sent' ? GRACE_MS : 0);
        // Before it is given up: Temporal may have its result from a time when nothing waited.
        if (await workByQueue(parts, call)) continue;
        if (remaining <= 0 && (await giveUpInvocation(forTenant(pool, tenant), callId))) continue;
        await someResult(waiter, remaining, signal);
      } catch (error) {
        // The end of a worker ends nothing at the node: the next attempt continues.
        if (!isStopped(signal)) throw error;
        await giveUpInvocation(forTenant(pool, tenant), callId);
        throw error;
      } finally {
        waiting.delete(entry);
      }
    }
  }

  async function find(tenant: string, name: string): Promise<NodeRow | ToolFailure> {
    const row = await findNode(forTenant(pool, tenant), name);
    if (row?.joined) return row;
    const names = (await listNodes(forTenant(pool, tenant)))
      .filter(({ joined }) => joined)
      .map((one) => one.name);
    const there = names.length === 0 ? 'none has joined' : `there are ${names.join(', ')}`;
    return toolError('NotFound', `there is no node "${name}"; ${there}`);
  }

  return {
    list: async (tenant) => (await listNodes(forTenant(pool, tenant))).filter(({ joined }) => joined),
    find,
    async invoke(call, { node, capability, params, seconds }) {
      const { tenant, callId: id, sessionKey: session } = call;
      const row = await find(tenant, node);
      if ('ok' in row) return row;
      const offered = offeredCapabilities(row.about, row.allowed).map(({ name }) => name);
      if (!offered.includes(capability))
        return toolError(
          'PermissionDenied',
          `${node} cannot be asked for ${capability}; it can for ${offered.join(', ') || 'nothing'}`,
        );
      const request = { id, node: row.id, session, capability, params, seconds };
      const result = (await insertInvocation(pool, sealer, tenant, request)) ? await follow(call) : undefined;
      return (
        result ??
        toolError('RateLimited', `${node} has ${NODE_LIMITS.open} invocations open; try again later`)
      );
    },
    follow,
  };
}

/** A row is read again after this time, even without a notification. */
const LONGEST_MS = 5_000;

function endedResult({ status, result, node, away }: InvocationState): ToolResult | undefined {
  if (result) {
    const text = markOutside({ id: randomUUID(), source: `node ${node ?? ''}`, text: result.text });
    return result.ok ? { ok: true, text } : toolError(result.code ?? 'ExecutionFailed', text);
  }
  if (status === 'unsent') {
    if (node === null) return toolError('Cancelled', 'the node was revoked; nothing was done there');
    const why = away ? `it is away since ${away.toISOString()}` : 'it was busy';
    return toolError('Timeout', `not sent to ${node}: ${why}. Nothing was done there.`);
  }
  return status === 'unknown'
    ? toolError(
        'OutcomeUnknown',
        `sent, and ${node === null ? 'the node was revoked' : `no result came from ${node}`}; it may have been done`,
      )
    : undefined;
}
