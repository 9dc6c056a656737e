/** A form for a JSON object, made from its JSON Schema. What no input can hold is written as JSON. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { INPUTS, type InputProps } from './field-inputs.tsx';
import {
  type FieldKind,
  type FieldSchema,
  fixedFields,
  isRecord,
  isVariant,
  kindOf,
  plainSchema,
  type Values,
  variantsOf,
} from './field-schema.ts';

interface SchemaFormProps {
  readonly schema: FieldSchema;
  /** Holds what the fields hold; a field that is emptied and not required is left out. */
  readonly values: Signal<Values>;
  /** Paths of fields whose text cannot be read. */
  readonly broken: Signal<ReadonlySet<string>>;
  /** What the API has refused, by `body/` and the path of the field. */
  readonly errors?: InputProps['errors'];
}

export function SchemaForm({ schema, values, broken, errors = [] }: SchemaFormProps) {
  const change = (value: unknown): void => {
    values.value = value as Values;
  };
  return (
    <Fields path="" schema={schema} value={values.value} broken={broken} errors={errors} change={change} />
  );
}

type FieldsProps = Pick<InputProps, 'path' | 'schema' | 'value' | 'broken' | 'errors' | 'change'>;

function Fields({ path, schema, value, change, ...form }: FieldsProps) {
  const { properties = {}, required = [] } = schema;
  const record = isRecord(value) ? value : {};
  const fixed = fixedFields(schema);
  // A value of a field that the schema does not name can be seen and removed, too.
  const names = [...new Set([...Object.keys(properties), ...Object.keys(record)])];
  return (
    <>
      {names
        .filter((name) => !Object.hasOwn(fixed, name))
        .map((name) => (
          <Field
            {...form}
            key={name}
            name={name}
            path={path === '' ? name : `${path}/${name}`}
            schema={plainSchema(properties[name] ?? {})}
            isRequired={required.includes(name)}
            value={record[name]}
            change={(inner) => {
              const { [name]: _, ...rest } = record;
              change(inner === undefined ? rest : { ...fixed, ...record, [name]: inner });
            }}
          />
        ))}
    </>
  );
}

function Field(props: Omit<InputProps, 'attributes'>) {
  const { name, path, schema, isRequired, value } = props;
  const id = useId();
  // A field keeps its input while a value is written that does not fit yet.
  const kind = useRef(kindOf(schema, value)).current;
  const Nested = NESTED[kind];
  // What is wrong inside of others is said at the innermost field.
  const wrong = props.errors.filter(
    ({ pointer = '' }) => pointer === `body/${path}` || (!Nested && pointer.startsWith(`body/${path}/`)),
  );
  const attributes = {
    id,
    // Inside of a field that may be absent, only the API knows.
    required: isRequired && !path.includes('/'),
    'aria-invalid': wrong.length > 0,
    'aria-describedby': `${id}-help`,
  };
  const Input = Nested ?? INPUTS[kind as keyof typeof INPUTS];
  const Box = (Nested ?? kind === 'choices') ? 'fieldset' : 'div';
  const Label = Box === 'div' ? 'label' : 'legend';
  return (
    <Box class="field">
      <Label {...(Label === 'label' && { for: id })}>
        {name}
        {isRequired && <span aria-hidden="true"> *</span>}
      </Label>
      <Input {...props} attributes={attributes} />
      <small id={`${id}-help`}>
        {schema.description}
        {wrong.map(({ message }) => (
          <strong key={message} class="bad">
            {' '}
            {message}
          </strong>
        ))}
      </small>
    </Box>
  );
}

/** Inputs that consist of fields. */
const NESTED: Readonly<Partial<Record<FieldKind, ComponentType<InputProps>>>> = {
  group: GroupInput,
  list: ListInput,
  variants: VariantsInput,
};

/** Closed while nothing is in it. */
function GroupInput({ name, path, value, change, ...props }: InputProps) {
  const isFilled = useRef(value !== undefined).current;
  const isWrong = props.errors.some(({ pointer = '' }) => pointer.startsWith(`body/${path}/`));
  return (
    <details open={isFilled || isWrong}>
      <summary>Fields of {name}</summary>
      <div class="fields">
        <Fields
          {...props}
          path={path}
          value={value}
          change={(inner) => change(isRecord(inner) && Object.keys(inner).length > 0 ? inner : undefined)}
        />
      </div>
    </details>
  );
}

function ListInput({ name, path, schema, value, change, ...props }: InputProps) {
  const rows: readonly unknown[] = Array.isArray(value) ? value : [];
  // Inputs that hold their own text are made anew when rows move up.
  const removed = useSignal(0);
  const remove = (index: number): void => {
    removed.value += 1;
    change(rows.length > 1 ? rows.filter((_, other) => other !== index) : undefined);
  };
  return (
    <div class="fields">
      {rows.map((row, index) => (
        <fieldset key={`${removed.value} ${index}`} class="fields">
          <legend>
            {name} {index + 1}
          </legend>
          <Fields
            {...props}
            path={`${path}/${index}`}
            schema={schema.items ?? {}}
            value={row}
            change={(inner) => change(rows.with(index, inner))}
          />
          <button type="button" onClick={() => remove(index)}>
            Remove {name} {index + 1}
          </button>
        </fieldset>
      ))}
      <button type="button" onClick={() => change([...rows, {}])}>
        Add to {name}
      </button>
    </div>
  );
}

function VariantsInput(props: InputProps) {
  const { name, schema, value, change } = props;
  const variants = variantsOf(schema);
  const found = variants.findIndex((one) => isVariant(one, value));
  const chosen = useSignal(Math.max(0, found));
  const variant = variants[chosen.value] ?? {};
  const choose = (index: number): void => {
    chosen.value = index;
    const fixed = fixedFields(variants[index] ?? {});
    change(Object.keys(fixed).length > 0 ? fixed : undefined);
  };
  const isGroup = kindOf(variant) === 'group';
  const Content = isGroup ? Fields : Field;
  return (
    <>
      <select
        aria-label={`Kind of ${name}`}
        value={chosen.value}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        {variants.map((one, index) => (
          <option key={index} value={index}>
            {variantName(one)}
          </option>
        ))}
      </select>
      <Content
        {...props}
        key={chosen.value}
        name={variantName(variant)}
        schema={variant}
        errors={isGroup ? props.errors : []}
      />
    </>
  );
}

function variantName(variant: FieldSchema): string {
  const [kind] = Object.values(fixedFields(variant));
  return String(kind ?? (variant.properties ? 'with fields' : 'a word'));
}
