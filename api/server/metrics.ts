/**
 * Defines the Prometheus metrics of this API process (IN-8). Labels never contain ids or tenants, so their number is
 * limited.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ServiceGauge } from '#domain/feature.ts';
import type { EgressCount } from '#store/egress-store.ts';

export interface Metrics {
  readonly registry: Registry;
  request(route: string, method: string, status: number, seconds: number): void;
  submitted(outcome: 'accepted' | 'repeated' | 'refused' | 'unavailable'): void;
  decided(outcome: 'decided' | 'repeated' | 'refused' | 'unavailable'): void;
  streamOpened(): void;
  streamClosed(): void;
  openTurns(counts: readonly { readonly status: string; readonly count: number }[]): void;
  egress(counts: readonly EgressCount[]): void;
  /** Reads the gauges of features. */
  readGauges(): Promise<void>;
}

export function createMetrics(gauges: readonly ServiceGauge[]): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'tempoclaw_' });
  const requests = new Histogram({
    name: 'tempoclaw_http_request_seconds',
    help: 'HTTP requests by route and status',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const submits = new Counter({
    name: 'tempoclaw_submits_total',
    help: 'Messages handed to Temporal by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const decisions = new Counter({
    name: 'tempoclaw_decisions_total',
    help: 'Decisions of approvals by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const streams = new Gauge({
    name: 'tempoclaw_event_streams',
    help: 'Open event streams',
    registers: [registry],
  });
  const turns = new Gauge({
    name: 'tempoclaw_open_turns',
    help: 'Turns that have not ended, over all tenants',
    labelNames: ['status'],
    registers: [registry],
  });
  const outside = (['requests', 'bytes'] as const).map((what) => ({
    what,
    gauge: new Gauge({
      name: `tempoclaw_egress_${what}`,
      help: `${what} of what was asked of the outside in the last five minutes, over all tenants`,
      labelNames: ['purpose', 'outcome'],
      registers: [registry],
    }),
  }));
  const ofFeatures = gauges.map(({ name, help, label, read }) => ({
    read,
    gauge: new Gauge({ name, help, labelNames: [label], registers: [registry] }),
  }));
  return {
    registry,
    request: (route, method, status, seconds) =>
      requests.labels(route, method, String(status)).observe(seconds),
    submitted: (outcome) => submits.labels(outcome).inc(),
    decided: (outcome) => decisions.labels(outcome).inc(),
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
    openTurns(counts) {
      turns.reset();
      for (const { status, count } of counts) turns.labels(status).set(count);
    },
    egress(counts) {
      for (const { what, gauge } of outside) {
        gauge.reset();
        for (const count of counts) gauge.labels(count.purpose, count.outcome).set(count[what]);
      }
    },
    async readGauges() {
      for (const { read, gauge } of ofFeatures) {
        const values = Object.entries(await read());
        gauge.reset();
        for (const [label, value] of values) gauge.labels(label).set(value);
      }
    },
  };
}
