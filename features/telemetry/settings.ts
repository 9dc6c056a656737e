/**
 * IN-8: where traces and metrics go. The variables are those of the OpenTelemetry specification
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
 */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';

const address = z.url({ protocol: /^https?$/ });
/** `name=value` pairs with commas between them; values are percent-encoded. */
const pairs = z
  .string()
  .max(8_192)
  .transform((text, context) => readPairs(text) ?? context.addIssue('expected name=value,name=value'))
  .pipe(z.record(z.string(), z.string()));

const schema = z
  .strictObject({
    /** The address of an OTLP receiver, to which `/v1/traces` and `/v1/metrics` are added. */
    endpoint: address.optional(),
    /** The whole addresses, which take precedence. */
    tracesEndpoint: address.optional(),
    metricsEndpoint: address.optional(),
    protocol: z.enum(['http/protobuf', 'http/json']).default('http/protobuf'),
    headers: pairs.optional(),
    serviceName: z.string().min(1).max(255).default('tempoclaw'),
    resource: pairs.optional(),
    disabled: z.boolean().default(false),
    /** Share of the traces that begin here; a caller decides for its own. */
    sampleRatio: z.number().min(0).max(1).default(1),
    /** Whether spans contain messages, arguments and results. Secrets are hidden in them. */
    contents: z.boolean().default(false),
    /** A turn is exported when it has been over for this long, so that its rows are complete. */
    delaySeconds: z.number().min(0).max(600).default(15),
  })
  .prefault({});

export type TelemetrySettings = z.output<typeof schema>;

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly telemetry: TelemetrySettings;
  }
}

export const telemetrySettings = defineSection({
  name: 'telemetry',
  schema,
  variables: [
    [['OTEL_EXPORTER_OTLP_ENDPOINT'], 'telemetry.endpoint', 'text'],
    [['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'], 'telemetry.tracesEndpoint', 'text'],
    [['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'], 'telemetry.metricsEndpoint', 'text'],
    [['OTEL_EXPORTER_OTLP_PROTOCOL'], 'telemetry.protocol', 'text'],
    [['OTEL_EXPORTER_OTLP_HEADERS'], 'telemetry.headers', 'text'],
    [['OTEL_SERVICE_NAME'], 'telemetry.serviceName', 'text'],
    [['OTEL_RESOURCE_ATTRIBUTES'], 'telemetry.resource', 'text'],
    [['OTEL_SDK_DISABLED'], 'telemetry.disabled', 'boolean'],
  ],
  secrets: ({ headers }) => Object.values(headers ?? {}),
});

export interface Targets {
  readonly traces?: string | undefined;
  readonly metrics?: string | undefined;
}

/** Undefined when nothing is exported. */
export function targetsOf(settings: TelemetrySettings): Targets | undefined {
  const { endpoint, disabled } = settings;
  const below = (signal: string) => endpoint && `${endpoint.replace(/\/+$/, '')}/v1/${signal}`;
  const traces = settings.tracesEndpoint ?? below('traces');
  const metrics = settings.metricsEndpoint ?? below('metrics');
  return disabled || (traces === undefined && metrics === undefined) ? undefined : { traces, metrics };
}

function readPairs(text: string): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at < 1 || name === '') return undefined;
    try {
      found[name] = decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      return undefined;
    }
  }
  return found;
}
