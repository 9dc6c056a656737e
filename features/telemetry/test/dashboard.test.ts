/** The dashboard reads metrics that exist. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { METRIC } from '../names.ts';

/** Units as Prometheus adds them to the names of OTLP metrics, and what it makes of a histogram or counter. */
const SERIES: Readonly<Record<keyof typeof METRIC, readonly string[]>> = {
  tokens: ['_bucket', '_count', '_sum'],
  modelSeconds: ['_seconds_bucket', '_seconds_count', '_seconds_sum'],
  turnSeconds: ['_seconds_bucket', '_seconds_count', '_seconds_sum'],
  toolSeconds: ['_seconds_bucket', '_seconds_count', '_seconds_sum'],
  cost: ['_total'],
};

describe('IN-8 the dashboard for Grafana', () => {
  it('shows each metric, and no other', async () => {
    const dashboard = JSON.parse(await readFile('docs/telemetry-dashboard.json', 'utf8'));
    assert.equal(new Set(dashboard.panels.map(({ id }: any) => id)).size, dashboard.panels.length);
    const queries: string[] = dashboard.panels.flatMap(({ targets }: any) =>
      targets.map(({ expr }: any) => expr),
    );
    const used = new Set(
      queries.flatMap((query) => query.match(/\b(?:gen_ai_[a-z_]+|tempoclaw_[a-z_]+)(?=\{|\[)/g) ?? []),
    );
    const known = Object.entries(METRIC).map(([key, name]) =>
      SERIES[key as keyof typeof METRIC].map((end) => name.replaceAll('.', '_') + end),
    );
    assert.ok(queries.length >= known.length);
    for (const name of used) assert.ok(known.flat().includes(name), name);
    for (const series of known)
      assert.ok(
        series.some((name) => used.has(name)),
        series[0],
      );
  });
});
