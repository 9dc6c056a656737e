/** Counts of exported turns: tokens, cost and durations. */
import type { Resource } from '@opentelemetry/resources';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { ATTRIBUTE, METRIC, OPERATION } from './names.ts';
import { modelOf, type TurnRecord } from './spans.ts';

/** The conventions' limits: durations in seconds and numbers of tokens. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Turns may wait for people. */
const TURN_SECONDS = [0.1, 0.4, 1.6, 6.4, 25.6, 102.4, 409.6, 1_638.4, 6_553.6, 86_400];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const EVERY_MS = 10_000;

export interface TurnMetrics {
  record(turns: readonly TurnRecord[]): void;
  /** Sends what is not sent. */
  close(): Promise<void>;
}

export function createMetrics(exporter: PushMetricExporter, resource: Resource): TurnMetrics {
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: EVERY_MS });
  const provider = new MeterProvider({ resource, readers: [reader] });
  const meter = provider.getMeter('tempoclaw');
  const histogram = (name: string, unit: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
  const tokens = histogram(METRIC.tokens, '{token}', TOKENS);
  const modelSeconds = histogram(METRIC.modelSeconds, 's', SECONDS);
  const turnSeconds = histogram(METRIC.turnSeconds, 's', TURN_SECONDS);
  const toolSeconds = histogram(METRIC.toolSeconds, 's', SECONDS);
  const cost = meter.createCounter(METRIC.cost, { unit: '{USD}' });

  function recordTurn({ turn, steps, calls }: TurnRecord): void {
    const agent = { [ATTRIBUTE.agent]: turn.agent_key };
    const failure = turn.status === 'failed' ? { [ATTRIBUTE.error]: turn.error?.code ?? 'Internal' } : {};
    turnSeconds.record(seconds(turn.started_at ?? turn.created_at, turn.ended_at), { ...agent, ...failure });
    for (const step of steps) {
      const { provider: name, model } = modelOf(step);
      const used = {
        [ATTRIBUTE.operation]: OPERATION.model,
        [ATTRIBUTE.provider]: name,
        [ATTRIBUTE.requestModel]: model,
      };
      tokens.record(Number(step.input_tokens), { ...used, [ATTRIBUTE.tokenType]: 'input' });
      tokens.record(Number(step.output_tokens), { ...used, [ATTRIBUTE.tokenType]: 'output' });
      modelSeconds.record(seconds(step.started_at, step.ended_at), used);
      if (step.cost_usd !== null) cost.add(Number(step.cost_usd), { ...used, ...agent });
    }
    for (const call of calls) {
      const code = call.ok === true ? {} : { [ATTRIBUTE.error]: call.code ?? 'Cancelled' };
      if (call.started_at)
        toolSeconds.record(seconds(call.started_at, call.ended_at), {
          ...agent,
          ...code,
          [ATTRIBUTE.tool]: call.tool,
        });
    }
  }
  return { record: (turns) => turns.forEach(recordTurn), close: () => provider.shutdown() };
}

function seconds(from: Date, to: Date | null): number {
  return Math.max(0, (to ?? from).getTime() - from.getTime()) / 1_000;
}
