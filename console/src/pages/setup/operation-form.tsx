/** A form that sends one request of the API, made from the schema of its body. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../../api/problem.ts';
import { randomId, requestAt } from '../../api/request.ts';
import { useRequestAt } from '../../api/use-request.ts';
import type { FieldSchema, Values } from '../../components/field-schema.ts';
import { NotYet, ProblemNotice } from '../../components/notices.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';

interface OperationFormProps {
  readonly method: string;
  /** As the OpenAPI document names it: /v1/agents/{key}. */
  readonly path: string;
  /** Where it is sent, when the path has parameters. */
  readonly address?: string;
  /** What there is. A PATCH sends what is other than that. */
  readonly start?: Values;
  readonly button: string;
  /** Why it cannot be sent. */
  readonly refusal?: string | undefined;
  readonly onDone: (answer: Values) => void;
  /** What is shown beside it, of what the fields hold. */
  readonly beside?: (values: Values) => ComponentChildren;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: FieldSchema }>> };
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export function OperationForm(props: OperationFormProps) {
  const { method, path } = props;
  const address = `openapi.json?path=${encodeURIComponent(path)}`;
  const reading = useRequestAt<ApiDocument>('GET', address);
  const operation = reading.data.value?.paths[path]?.[method.toLowerCase()];
  const schema = operation?.requestBody?.content['application/json']?.schema;
  return schema ? <BodyForm {...props} schema={schema} /> : <NotYet reading={reading} />;
}

function BodyForm(props: OperationFormProps & { readonly schema: FieldSchema }) {
  const { method, path, address = path.slice(1), button, refusal, onDone, beside } = props;
  // With the revision that was seen, nobody's change is lost that was made since; people do not write it.
  const { revision: _, ...properties } = props.schema.properties ?? {};
  const schema = { ...props.schema, properties };
  const seen = useRef(props.schema.properties?.['revision'] && props.start?.['revision']).current;
  const start = useRef(fieldsOf(props.start ?? {}, schema)).current;
  const values = useSignal<Values>(start);
  const broken = useSignal<ReadonlySet<string>>(new Set());
  const problem = useSignal<Problem | undefined>(undefined);
  const isBusy = useSignal(false);
  const keyOf = useRequestKey();
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    const changes = (): Values => ({ ...changesOf(start, values.value), revision: seen });
    const body = method === 'PATCH' ? changes() : values.value;
    const result = await requestAt<Values>(method, address, body, { key: keyOf(body) });
    isBusy.value = false;
    problem.value = result.ok ? undefined : result.problem;
    if (result.ok) onDone(result.data);
  };
  const form = useRef<HTMLFormElement>(null);
  const focus = (): void => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  useEffect(focus, [problem.value]);
  const isUnchanged = method !== 'POST' && values.value === start;
  return (
    <div class="form-and-more">
      <form ref={form} class="fields" noValidate onSubmit={(event) => void submit(event)}>
        <fieldset class="fields plain" disabled={refusal !== undefined}>
          <SchemaForm schema={schema} values={values} broken={broken} errors={problem.value?.errors ?? []} />
          {problem.value && <ProblemNotice problem={{ ...problem.value, errors: [] }} />}
          <div class="buttons">
            <button
              type="submit"
              class="primary"
              title={refusal}
              disabled={isBusy.value || isUnchanged || broken.value.size > 0}
            >
              {button}
            </button>
            {refusal && <small>{refusal}</small>}
          </div>
        </fieldset>
      </form>
      {beside && <div>{beside(values.value)}</div>}
    </div>
  );
}

/** The same key while the body is the same: what is sent again after a lost answer is done once. */
function useRequestKey(): (body: unknown) => string {
  const last = useRef({ text: '', key: '' });
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) last.current = { text, key: randomId() };
    return last.current.key;
  };
}

/** Answers have fields that requests have not, and null for what is absent. */
function fieldsOf(row: Values, { properties = {} }: FieldSchema): Values {
  return Object.fromEntries(
    Object.entries(row).filter(([name, value]) => Object.hasOwn(properties, name) && value !== null),
  );
}

/** A field that was emptied is null. */
function changesOf(start: Values, values: Values): Values {
  const names = [...new Set([...Object.keys(start), ...Object.keys(values)])];
  const changed = names.filter((name) => JSON.stringify(start[name]) !== JSON.stringify(values[name]));
  return Object.fromEntries(changed.map((name) => [name, values[name] ?? null]));
}
