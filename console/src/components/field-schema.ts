/** The part of JSON Schema that forms understand, and which input a field gets. */

export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly oneOf?: readonly FieldSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

export type Values = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === 'string';

export function isRecord(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The inputs that there are, each with what it can hold. */
const KINDS = {
  choice: (value, schema) => choicesOf(schema).includes(value),
  choices: (value, { items = {} }) =>
    Array.isArray(value) && value.every((one) => choicesOf(items).includes(one)),
  number: (value) => typeof value === 'number',
  text: isText,
  time: isText,
  lines: (value) => [value].flat().every(isText),
  list: (value) => Array.isArray(value) && value.every(isRecord),
  group: isRecord,
  variants: (value, schema) => variantsOf(schema).some((variant) => isVariant(variant, value)),
  json: () => true,
} as const satisfies Readonly<Record<string, (value: unknown, schema: FieldSchema) => boolean>>;

export type FieldKind = keyof typeof KINDS;

/** A value that its field's schema does not fit is JSON. */
export function kindOf(schema: FieldSchema, value?: unknown): FieldKind {
  const kind = kindOfSchema(schema);
  return value === undefined || KINDS[kind](value, schema) ? kind : 'json';
}

function kindOfSchema(schema: FieldSchema): FieldKind {
  const { type, items = {}, properties = {} } = schema;
  if (choicesOf(schema).length > 0) return 'choice';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string') return schema.format === 'date-time' ? 'time' : 'text';
  if (type === 'array') return KINDS_OF_ITEMS.get(kindOfSchema(items)) ?? 'json';
  if (isOneOrMore(schema)) return 'lines';
  if (variantsOf(schema).length > 1)
    return variantsOf(schema).every(({ type }) => type === 'string') ? 'text' : 'variants';
  return Object.keys(properties).length > 0 ? 'group' : 'json';
}

const KINDS_OF_ITEMS: ReadonlyMap<FieldKind, FieldKind> = new Map([
  ['choice', 'choices'],
  ['group', 'list'],
  ['text', 'lines'],
]);

/** A text, or several. */
export function isOneOrMore(schema: FieldSchema): boolean {
  return variantsOf(schema).map(kindOfSchema).join() === 'text,lines';
}

/** Without null: a field that is emptied is sent as null where it may be. */
export function variantsOf({ anyOf, oneOf }: FieldSchema): readonly FieldSchema[] {
  return (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
}

/** The only variant in place of the schema, with its description. */
export function plainSchema(schema: FieldSchema): FieldSchema {
  const [only, ...others] = variantsOf(schema);
  return only && others.length === 0 ? { ...schema, anyOf: [], oneOf: [], ...only } : schema;
}

export function choicesOf(schema: FieldSchema): readonly unknown[] {
  return schema.enum ?? (schema.type === 'boolean' ? [true, false] : []);
}

export function isVariant(variant: FieldSchema, value: unknown): boolean {
  const fixed = Object.entries(fixedFields(variant));
  return (
    KINDS[kindOfSchema(variant)](value, variant) &&
    fixed.every(([name, only]) => isRecord(value) && value[name] === only)
  );
}

/** Fields for which one value is possible, such as `kind: cron`. */
export function fixedFields({ properties = {}, required = [] }: FieldSchema): Values {
  const fixed = Object.entries(properties).filter(
    ([name, field]) => required.includes(name) && field.enum?.length === 1,
  );
  return Object.fromEntries(fixed.map(([name, field]) => [name, field.enum?.[0]]));
}
