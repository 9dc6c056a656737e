/** OTLP over HTTP, in the encoding of the settings. */
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Targets, TelemetrySettings } from './settings.ts';

export interface Exporters {
  readonly traces: SpanExporter | undefined;
  readonly metrics: PushMetricExporter | undefined;
}

/** How long a receiver may take. */
const TIMEOUT_MS = 10_000;

export async function createExporters(
  { protocol, headers = {} }: TelemetrySettings,
  { traces, metrics }: Targets,
): Promise<Exporters> {
  const isJson = protocol === 'http/json';
  const { OTLPTraceExporter } = isJson
    ? await import('@opentelemetry/exporter-trace-otlp-http')
    : await import('@opentelemetry/exporter-trace-otlp-proto');
  const { OTLPMetricExporter } = isJson
    ? await import('@opentelemetry/exporter-metrics-otlp-http')
    : await import('@opentelemetry/exporter-metrics-otlp-proto');
  const at = (url: string) => ({ url, headers, timeoutMillis: TIMEOUT_MS });
  return {
    traces: traces === undefined ? undefined : new OTLPTraceExporter(at(traces)),
    metrics: metrics === undefined ? undefined : new OTLPMetricExporter(at(metrics)),
  };
}
