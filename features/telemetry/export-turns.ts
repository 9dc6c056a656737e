/** Exports ended turns in the background: one worker at a time, each turn at least once. */
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { isRecord } from '#domain/outside-value.ts';
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { listStepCalls, listSteps } from '#store/turns/step-store.ts';
import { listToolCalls } from '#store/turns/tool-call-store.ts';
import { findTurn } from '#store/turns/turn-store.ts';
import { createMetrics } from './metrics.ts';
import type { TelemetrySettings } from './settings.ts';
import { resourceOf, spansOf, type TurnContents, type TurnRecord } from './spans.ts';
import { claimNext, type EndedTurn, readQuestion } from './store.ts';
import { traceOfTurn } from './trace-of-turn.ts';

export interface ExportDeps {
  readonly pool: Pool;
  readonly settings: TelemetrySettings;
  readonly traces: SpanExporter | undefined;
  readonly metrics: PushMetricExporter | undefined;
  onError(error: unknown): void;
}

const LOOK_MS = 1_000;
/** Turns in one request. */
const BATCH = 50;
/** Turns that are read at the same time. */
const READERS = 4;
/** A receiver that is away gets what ended within this time. */
const KEPT_SECONDS = 3_600;
/** Far more than a turn has. */
const MAX_ROWS = 1_000;
const MAX_TEXT = 16_384;

/** Returns a function that ends it, and sends the metrics that are left. */
export function exportTurns(deps: ExportDeps): () => Promise<void> {
  const { pool, settings, traces } = deps;
  const resource = resourceOf(settings.serviceName, settings.resource);
  const metrics = deps.metrics && createMetrics(deps.metrics, resource);
  const { delaySeconds } = settings;
  let limit = BATCH;
  const closing = new AbortController();
  let looking: Promise<void> | undefined;

  async function send(turns: readonly EndedTurn[]): Promise<void> {
    const readers = createConcurrencyLimit(READERS);
    const read = await Promise.all(
      turns.map((turn) => readers.pass('read', () => readRecord(pool, turn, settings.contents))),
    );
    const records = read.flatMap((record) => record ?? []);
    const spans = records.flatMap((record) => {
      const trace = traceOfTurn(record.tenant, record.turn.id, record.context, settings.sampleRatio);
      return trace.isSampled ? spansOf(record, trace, resource) : [];
    });
    if (traces && spans.length > 0) await deliver(traces, spans);
    metrics?.record(records);
  }

  /** Returns whether there may be more. A receiver that refuses a batch gets its turns one by one. */
  async function sendNext(): Promise<boolean> {
    const next = await claimNext(pool, { limit, delaySeconds, keptSeconds: KEPT_SECONDS + delaySeconds });
    if (!next) return false;
    let isSent = false;
    try {
      await send(next.turns);
      isSent = true;
    } catch (error) {
      // What it does not read alone either is passed over.
      isSent = isRefused(error) && next.turns.length === 1;
      if (isRefused(error)) limit = 1;
      throw error;
    } finally {
      await next.end(isSent);
    }
    const isFull = next.turns.length === limit;
    limit = BATCH;
    return isFull;
  }

  async function look(): Promise<void> {
    while (!closing.signal.aborted && (await sendNext()));
  }

  const timer = setInterval(() => {
    looking ??= look()
      .catch(deps.onError)
      .finally(() => {
        looking = undefined;
      });
  }, LOOK_MS);
  timer.unref();
  return async () => {
    closing.abort();
    clearInterval(timer);
    await looking;
    await Promise.all([metrics?.close().catch(deps.onError), traces?.shutdown()]);
  };
}

/** Undefined when the turn has been forgotten. */
async function readRecord(
  pool: Pool,
  { tenant_id: tenant, turn_id: id, context }: EndedTurn,
  hasContents: boolean,
): Promise<TurnRecord | undefined> {
  const db = forTenant(pool, tenant);
  const turn = await findTurn(db, id);
  if (!turn) return undefined;
  const [steps, calls, contents] = await Promise.all([
    listSteps(db, id, MAX_ROWS, 0, MAX_TEXT),
    listStepCalls(db, id, 0, MAX_ROWS),
    hasContents ? readContents(db, id) : undefined,
  ]);
  return { tenant, context, turn, steps, calls, contents };
}

async function readContents(db: TenantDb, turn: string): Promise<TurnContents> {
  const calls = await listToolCalls(db, turn, MAX_ROWS, [-1, -1]);
  return {
    question: await readQuestion(db, turn),
    calls: new Map(calls.map(({ id, args, result }) => [id, { args, result }])),
  };
}

function deliver(exporter: SpanExporter, spans: ReadableSpan[]): Promise<void> {
  return new Promise((resolve, reject) => {
    exporter.export(spans, ({ error }) => (error ? reject(error) : resolve()));
  });
}

/** The receiver has answered that it cannot read this, so that it will not take it later either. */
function isRefused(error: unknown): boolean {
  return isRecord(error) && (error['code'] === 400 || error['code'] === 413);
}
