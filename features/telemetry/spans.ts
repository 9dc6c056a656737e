/** The spans of a turn, made from its rows. */
import { type Attributes, type HrTime, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { answerIdOf } from '#domain/ids.ts';
import type { TraceContext } from '#domain/turn/trace.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { spanIdOf } from '#store/turns/span-ids.ts';
import type { StepCallRow, StepRow } from '#store/turns/step-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { ATTRIBUTE, OPERATION } from './names.ts';

/** A turn as its rows have it. */
export interface TurnRecord {
  readonly tenant: string;
  readonly context: MessageContext;
  readonly turn: TurnRow;
  readonly steps: readonly StepRow[];
  readonly calls: readonly StepCallRow[];
  /** Present when contents are exported. */
  readonly contents?: TurnContents | undefined;
}

export interface TurnContents {
  readonly question: string;
  /** Arguments and results by the calls' ids. */
  readonly calls: ReadonlyMap<string, { readonly args: unknown; readonly result: string | null }>;
}

/** Characters of a text in an attribute. */
const MAX_TEXT = 16_384;

export function spansOf(record: TurnRecord, trace: TraceContext, resource: Resource): ReadableSpan[] {
  const { tenant, turn, steps, calls } = record;
  const span = spanMaker(trace, tenant, resource);
  const root = spanIdOf(tenant, turn.id);
  return [
    span(turn.id, trace.spanId === root ? undefined : trace.spanId, turnSpan(record)),
    ...steps.map((step) => span(answerIdOf(turn.id, step.step), root, modelSpan(record, step))),
    ...calls.flatMap((call) => {
      const approval = approvalSpan(call);
      return [
        ...(approval ? [span(`approval/${call.approval_id}`, root, approval)] : []),
        span(call.id, root, toolSpan(record, call)),
      ];
    }),
  ];
}

interface SpanParts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly from: Date;
  readonly to: Date;
  readonly attributes: Attributes;
  /** The code of what failed. */
  readonly error?: string | undefined;
}

function turnSpan({ tenant, turn, contents }: TurnRecord): SpanParts {
  const failure = turn.status === 'failed' ? (turn.error?.code ?? 'Internal') : undefined;
  return {
    name: `${OPERATION.turn} ${turn.agent_key}`,
    kind: SpanKind.INTERNAL,
    from: turn.started_at ?? turn.created_at,
    to: turn.ended_at ?? turn.created_at,
    error: failure,
    attributes: {
      [ATTRIBUTE.operation]: OPERATION.turn,
      ...agentOf(turn),
      [ATTRIBUTE.conversation]: turn.session_key,
      [ATTRIBUTE.tenant]: tenant,
      [ATTRIBUTE.turn]: turn.id,
      [ATTRIBUTE.turnStatus]: turn.status,
      ...usage(turn),
      ...(contents && {
        [ATTRIBUTE.inputMessages]: messages('user', contents.question),
        [ATTRIBUTE.outputMessages]: messages('assistant', turn.text ?? ''),
      }),
    },
  };
}

function modelSpan({ turn, contents }: TurnRecord, step: StepRow): SpanParts {
  const { provider, model } = modelOf(step);
  return {
    name: `${OPERATION.model} ${model}`,
    kind: SpanKind.CLIENT,
    from: step.started_at,
    to: step.ended_at,
    attributes: {
      [ATTRIBUTE.operation]: OPERATION.model,
      ...agentOf(turn),
      [ATTRIBUTE.provider]: provider,
      [ATTRIBUTE.requestModel]: model,
      [ATTRIBUTE.step]: step.step,
      ...(step.finish !== null && { [ATTRIBUTE.finishReasons]: [step.finish] }),
      ...(step.attempt !== null && { [ATTRIBUTE.attempts]: step.attempt }),
      ...usage(step),
      ...(contents && { [ATTRIBUTE.outputMessages]: messages('assistant', step.text) }),
    },
  };
}

function toolSpan({ turn, contents }: TurnRecord, call: StepCallRow): SpanParts {
  const content = contents?.calls.get(call.id);
  return {
    name: `${OPERATION.tool} ${call.tool}`,
    kind: SpanKind.INTERNAL,
    from: call.started_at ?? call.ended_at ?? call.created_at,
    to: call.ended_at ?? call.started_at ?? call.created_at,
    error: call.ok === true ? undefined : (call.code ?? 'Cancelled'),
    attributes: {
      [ATTRIBUTE.operation]: OPERATION.tool,
      ...agentOf(turn),
      [ATTRIBUTE.tool]: call.tool,
      [ATTRIBUTE.toolCall]: call.id,
      [ATTRIBUTE.step]: call.step,
      [ATTRIBUTE.attempts]: call.attempts,
      [ATTRIBUTE.verdict]: call.verdict,
      ...(content && {
        [ATTRIBUTE.toolArguments]: JSON.stringify(content.args).slice(0, MAX_TEXT),
        [ATTRIBUTE.toolResult]: (content.result ?? '').slice(0, MAX_TEXT),
      }),
    },
  };
}

function approvalSpan({ approval_id, asked_at, decided_at, status }: StepCallRow): SpanParts | undefined {
  if (approval_id === null || asked_at === null || status === null) return undefined;
  return {
    name: 'approval',
    kind: SpanKind.INTERNAL,
    from: asked_at,
    to: decided_at ?? asked_at,
    attributes: { [ATTRIBUTE.approval]: approval_id, [ATTRIBUTE.approvalStatus]: status },
  };
}

/** Who acts, and with which revision. */
function agentOf({ agent_key, agent_revision }: TurnRow): Attributes {
  return {
    [ATTRIBUTE.agent]: agent_key,
    ...(agent_revision !== null && { [ATTRIBUTE.agentVersion]: String(agent_revision) }),
  };
}

/** `provider/model` as settings and rows name it; an invocation has no model. */
export function modelOf({ model }: Pick<StepRow, 'model'>): {
  readonly provider: string;
  readonly model: string;
} {
  const text = model ?? 'none';
  const at = text.indexOf('/');
  return { provider: at < 0 ? text : text.slice(0, at), model: text.slice(at + 1) };
}

function usage(row: Pick<StepRow, 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'cost_usd'>) {
  return {
    [ATTRIBUTE.inputTokens]: Number(row.input_tokens),
    [ATTRIBUTE.outputTokens]: Number(row.output_tokens),
    [ATTRIBUTE.cachedTokens]: Number(row.cached_tokens),
    ...(row.cost_usd !== null && { [ATTRIBUTE.cost]: Number(row.cost_usd) }),
  };
}

function messages(role: 'user' | 'assistant', text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: text.slice(0, MAX_TEXT) }] }]);
}

function spanMaker(trace: TraceContext, tenant: string, resource: Resource) {
  const contextOf = (spanId: string) => ({ traceId: trace.traceId, spanId, traceFlags: 1 });
  return (id: string, parent: string | undefined, parts: SpanParts): ReadableSpan => {
    const to = parts.to < parts.from ? parts.from : parts.to;
    const context = contextOf(spanIdOf(tenant, id));
    return {
      name: parts.name,
      kind: parts.kind,
      spanContext: () => context,
      ...(parent !== undefined && { parentSpanContext: contextOf(parent) }),
      startTime: timeOf(parts.from.getTime()),
      endTime: timeOf(to.getTime()),
      duration: timeOf(to.getTime() - parts.from.getTime()),
      ended: true,
      status: { code: parts.error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
      attributes: {
        ...parts.attributes,
        ...(parts.error !== undefined && { [ATTRIBUTE.error]: parts.error }),
      },
      links: [],
      events: [],
      resource,
      instrumentationScope: { name: 'tempoclaw' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  };
}

function timeOf(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1_000), (milliseconds % 1_000) * 1_000_000];
}

export function resourceOf(service: string, attributes: Readonly<Record<string, string>> = {}): Resource {
  return resourceFromAttributes({ ...attributes, 'service.name': service });
}
