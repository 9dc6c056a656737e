/** A form for a JSON object, made from the JSON Schema of its fields. What no field can hold is written as JSON. */
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';

export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

type Values = Readonly<Record<string, unknown>>;

interface SchemaFormProps {
  readonly schema: FieldSchema;
  /** Holds what the fields hold; a field that is emptied and not required is left out. */
  readonly values: Signal<Values>;
  /** Names of fields whose text is no JSON. */
  readonly broken: Signal<ReadonlySet<string>>;
}

export function SchemaForm({ schema, values, broken }: SchemaFormProps) {
  const fields = Object.entries(schema.properties ?? {});
  // A value of a field that the schema does not name can be seen and removed, too.
  const others = Object.keys(values.value).filter((name) => !Object.hasOwn(schema.properties ?? {}, name));
  const change = (name: string, value: unknown): void => {
    const { [name]: _, ...rest } = values.value;
    values.value = value === undefined ? rest : { ...values.value, [name]: value };
  };
  return (
    <>
      {[...fields, ...others.map((name) => [name, {}] as const)].map(([name, field]) => (
        <Field
          key={name}
          name={name}
          schema={field}
          isRequired={schema.required?.includes(name) ?? false}
          value={values.value[name]}
          broken={broken}
          change={(value) => change(name, value)}
        />
      ))}
    </>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly broken: Signal<ReadonlySet<string>>;
  readonly change: (value: unknown) => void;
}

function Field(props: FieldProps) {
  const { name, schema, isRequired } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {name}
        {isRequired && <span aria-hidden="true"> *</span>}
      </label>
      <Input {...props} id={id} />
      {schema.description && <small id={`${id}-help`}>{schema.description}</small>}
    </div>
  );
}

function Input(props: FieldProps & { readonly id: string }) {
  const { id, schema, isRequired, value, change } = props;
  const shared = { id, required: isRequired, 'aria-describedby': schema.description && `${id}-help` };
  const kind = kindOf(schema, value);
  if (kind === 'choice')
    return (
      <select
        {...shared}
        value={String(value ?? '')}
        onChange={({ currentTarget }) =>
          change(schema.enum?.find((one) => String(one) === currentTarget.value))
        }
      >
        {!isRequired && <option value="" />}
        {schema.enum?.map((one) => (
          <option key={String(one)}>{String(one)}</option>
        ))}
      </select>
    );
  if (kind === 'boolean')
    return (
      <input
        {...shared}
        required={false}
        type="checkbox"
        checked={value === true}
        onChange={({ currentTarget }) => change(currentTarget.checked)}
      />
    );
  if (kind === 'number')
    return (
      <input
        {...shared}
        type="number"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
        value={typeof value === 'number' ? value : ''}
        onInput={({ currentTarget }) =>
          change(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)
        }
      />
    );
  if (kind === 'text')
    return (
      <textarea
        {...shared}
        rows={rowsOf(String(value ?? ''))}
        spellcheck={false}
        maxLength={schema.maxLength}
        value={String(value ?? '')}
        onInput={({ currentTarget }) =>
          change(currentTarget.value === '' && !isRequired ? undefined : currentTarget.value)
        }
      />
    );
  return <JsonInput {...props} />;
}

/** Its text stays as it is written, also while it is no JSON. */
function JsonInput({ id, name, value, broken, change }: FieldProps & { readonly id: string }) {
  const write = (text: string): void => {
    const others = new Set(broken.value);
    others.delete(name);
    try {
      change(text.trim() === '' ? undefined : JSON.parse(text));
    } catch {
      others.add(name);
    }
    broken.value = others;
  };
  const text = value === undefined ? '' : JSON.stringify(value, null, 2);
  return (
    <textarea
      id={id}
      rows={rowsOf(text)}
      spellcheck={false}
      aria-invalid={broken.value.has(name)}
      defaultValue={text}
      onInput={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}

/** A value that its field's schema does not fit is JSON. */
function kindOf(schema: FieldSchema, value: unknown): 'choice' | 'boolean' | 'number' | 'text' | 'json' {
  const fits = (type: string): boolean => value === undefined || typeof value === type;
  if (schema.enum && (value === undefined || schema.enum.includes(value))) return 'choice';
  if (schema.type === 'boolean' && fits('boolean')) return 'boolean';
  if ((schema.type === 'number' || schema.type === 'integer') && fits('number')) return 'number';
  if (schema.type === 'string' && fits('string')) return 'text';
  return 'json';
}

const MAX_ROWS = 14;

function rowsOf(text: string): number {
  return Math.min(MAX_ROWS, text.split('\n').length);
}
