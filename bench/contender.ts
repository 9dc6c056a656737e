/**
 * The sides that are compared. Each is driven the way its user would: one call starts a turn, and one waits for its
 * end.
 */
import { ROWS } from '#test/support/rows.ts';
import type { MessageToAdmit } from '#domain/feature.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { createEventNotifier } from '#store/event-notifier.ts';
import { openSecrets } from '#store/secrets/open-secrets.ts';
import { insertAgent } from '#store/agent-store.ts';
import { connectTemporal, type TemporalAccess } from '#temporal/client.ts';
import { createMetrics } from '#api/server/metrics.ts';
import { submitMessage } from '#api/submit-message.ts';
import type { AgentConfig } from '#domain/agent.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createBareTables } from './bare/tables.ts';
import { type BenchStack, QUEUES } from './stack.ts';

/** What a turn does. */
export interface Work {
  readonly steps: number;
  readonly tool: 'datetime' | 'read_file' | 'exec' | 'spawn' | 'team_tasks' | 'mcp_bench__work';
  readonly command?: string;
  readonly parallel?: number;
  readonly modelMs?: number;
  /** Milliseconds that a call of the MCP server takes. */
  readonly callMs?: number;
  /** Characters of random text that are added to the user's message. */
  readonly pad?: number;
}

export interface StartedTurn {
  readonly workflowId: string;
  /**
   * Resolves when the turn's workflow has ended; throws when it did not end well. If it is not called, nothing waits.
   */
  end(): Promise<void>;
}

export interface StartOptions {
  readonly session?: string;
  readonly agent?: string;
  readonly tenant?: string;
}

export interface Contender {
  readonly name: 'bare A' | 'bare B' | 'TempoClaw';
  readonly side: 'bare' | 'tempoclaw';
  start(work: Work, options?: StartOptions): Promise<StartedTurn>;
}

export function textOf(work: Work): string {
  const pad = work.pad ? ` ${randomText(work.pad)}` : '';
  const command = work.command === undefined ? '' : ` command="${work.command}"`;
  return `steps=${work.steps} tool=${work.tool} parallel=${work.parallel ?? 1} model_ms=${work.modelMs ?? 0} call_ms=${work.callMs ?? 0}${command}${pad}`;
}

function randomText(characters: number): string {
  let text = '';
  // Long hexadecimal digits alone would be hidden as a secret.
  while (text.length < characters) text += `${randomUUID()} `;
  return text.slice(0, characters);
}

export function createBare(stack: BenchStack, workflow: 'bareCarried' | 'bareTabled'): Contender {
  const table = createBareTables(stack.pool);
  return {
    name: workflow === 'bareCarried' ? 'bare A' : 'bare B',
    side: 'bare',
    async start(work) {
      const conversation = `bare-${randomUUID()}`;
      const text = textOf(work);
      if (workflow === 'bareTabled') await table.write(conversation, 0, -1, { role: 'user', text });
      const handle = await stack.client.workflow.start(workflow, {
        workflowId: conversation,
        taskQueue: QUEUES.bare,
        args: [{ conversation, text: workflow === 'bareTabled' ? '' : text }],
      });
      return { workflowId: conversation, end: async () => void (await handle.result()) };
    },
  };
}

/** The tenant of everything on TempoClaw's side. */
export const TENANT = 'default';
/** A second tenant with the same agents. */
export const NEIGHBOUR = 'neighbour';

const AGENTS: readonly AgentConfig[] = [
  {
    key: 'bench',
    type: 'open',
    model: 'rehearsal/bench-loop',
    limits: { iterations: 10_000 },
    exec: { security: 'full', ask: 'off' },
  },
  { key: 'bench-words', type: 'open', model: 'openai/words' },
  { key: 'bench-work', type: 'open', model: 'openai/work' },
  {
    key: 'bench-ask',
    type: 'open',
    model: 'rehearsal/bench-loop',
    tools: { ask: [{ tool: 'datetime', expires_seconds: 86_400 }] },
  },
];

/** Drives TempoClaw by what its API's routes call: the message's row, update-with-start, the turn's row. */
export async function createTempoclaw(
  stack: BenchStack,
): Promise<{ contender: Contender; temporal: TemporalAccess; close(): Promise<void> }> {
  const { pool } = stack;
  for (const tenant of [TENANT, NEIGHBOUR]) {
    await pool.query(`insert into tenants (id, name) values ($1, 'Bench') on conflict do nothing`, [tenant]);
    for (const agent of AGENTS) await insertAgent(forTenant(pool, tenant), agent, 'bench');
  }
  const temporal = connectTemporal({
    address: stack.address,
    namespace: 'default',
    taskQueue: QUEUES.tempoclaw,
  });
  const notifier = createEventNotifier(pool, () => undefined);
  const secrets = await openSecrets({
    rows: ROWS,
    settings: {
      stateDir: '/nonexistent',
      encryption: { key: randomBytes(32).toString('base64'), previousKeys: [] },
    },
    databaseUrl: String(pool.options.connectionString),
    pool,
    deploymentValues: [],
    onError: () => undefined,
  });
  const deps = {
    pool,
    temporal,
    notifier,
    metrics: createMetrics([]),
    secrets,
    settings: { fastPath: true },
    admitMessage: async (_tenant: string, { context }: MessageToAdmit) => context,
  };
  const contender: Contender = {
    name: 'TempoClaw',
    side: 'tempoclaw',
    async start(work, { session = `bench-${randomUUID()}`, agent = 'bench', tenant = TENANT } = {}) {
      const text = textOf(work);
      const { receipt, workflowId } = await submitMessage(deps, tenant, {
        id: `msg_${randomUUID()}`,
        session,
        text,
        mode: null,
        context: { agent },
        repeatable: false,
      });
      const handle = stack.client.workflow.getHandle(workflowId);
      return {
        workflowId,
        end: async () => check((await handle.result()) as Outcome, receipt.turn_id),
      };
    },
  };
  return {
    contender,
    temporal,
    async close() {
      await secrets.close();
      await notifier.close();
      await temporal.close();
    },
  };
}

interface Outcome {
  readonly turn_id: string;
  readonly status: string;
  readonly preview: string;
  readonly error?: unknown;
}

function check(outcome: Outcome, turn: string): void {
  if (outcome.turn_id === turn && outcome.status === 'completed') return;
  throw new Error(`turn ${turn} did not complete: ${JSON.stringify(outcome)}`);
}

/** Milliseconds from before the start until the end. */
export async function timeTurn(contender: Contender, work: Work, options?: StartOptions): Promise<number> {
  const began = performance.now();
  const { end } = await contender.start(work, options);
  await end();
  return performance.now() - began;
}
