/**
 * What an MCP server asks a person while it processes a call (elicitation of MCP 2025-11-25 and 2026-07-28), within our
 * limits, and whether an answer fits it. Its texts are hostile: they are shown, never compiled.
 */
import { fieldOf, isRecord, isStorable } from './outside-value.ts';
import type { mcpFormSchema } from './schema/form.ts';
import type { Kept } from './schema/scalars.ts';
import { promptLines } from './model/sampling.ts';

export type McpForm = Kept<typeof mcpFormSchema>;
export type FormField = McpForm['fields'][number];
export type FormValue = string | number | boolean | readonly string[];
export type FormContent = Readonly<Record<string, FormValue>>;

const MAX_FIELDS = 40;
const MAX_OPTIONS = 200;
const MAX_MESSAGE = 4_000;
const MAX_LABEL = 300;
const MAX_URL = 2_000;
/** Greatest number of characters of one text in an answer. */
const MAX_VALUE = 16_384;
const NAME = /^[^\p{C}]{1,100}$/u;
const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

/**
 * Reads `params` of an `elicitation/create`; undefined when no form can express the question or it exceeds the limits.
 */
export function readForm(server: string, params: unknown): McpForm | undefined {
  if (!isRecord(params)) return undefined;
  const message = words(params['message'], MAX_MESSAGE);
  if (params['mode'] === 'url') {
    const url = params['url'];
    const address = typeof url === 'string' && url.length <= MAX_URL ? URL.parse(url) : null;
    return address && /^https?:$/.test(address.protocol)
      ? { server, message, url: address.href, fields: [] }
      : undefined;
  }
  const schema = params['requestedSchema'];
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  if (!isRecord(schema) || !isRecord(properties)) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties)
    .slice(0, MAX_FIELDS + 1)
    .map(([name, field]) => readField(name, field, required.includes(name)));
  if (fields.length > MAX_FIELDS || !fields.every((field) => field !== undefined)) return undefined;
  return { server, message, fields };
}

const TYPES: Readonly<Record<string, FormField['type']>> = {
  array: 'choices',
  string: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
};
const NUMBER = ['minimum', 'maximum'] as const;
const BOUNDS = {
  choices: ['minItems', 'maxItems'],
  string: ['minLength', 'maxLength'],
  number: NUMBER,
  integer: NUMBER,
  boolean: NUMBER,
} as const;

function readField(name: string, value: unknown, required: boolean): FormField | undefined {
  if (!isRecord(value) || !NAME.test(name) || name === '__proto__') return undefined;
  const type = fieldOf(TYPES, String(value['type']));
  const options = readOptions(type === 'choices' ? value['items'] : value);
  if (!type || options === null || (type === 'choices' && !options)) return undefined;
  const [min, max] = BOUNDS[type].map((key) => value[key]);
  const { title, description, format, default: standard } = value;
  const field = defined({
    name,
    title: words(title, MAX_LABEL) || name,
    description: words(description, MAX_LABEL) || undefined,
    type,
    required,
    format: FORMATS.find((one) => one === format),
    min: typeof min === 'number' ? min : undefined,
    max: typeof max === 'number' ? max : undefined,
    options,
  }) as unknown as FormField;
  // A default that does not fit counts as none.
  return valueProblem(field, standard) === undefined ? { ...field, default: standard as FormValue } : field;
}

function defined(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** Undefined means any value; null means more or other options than can be shown. */
function readOptions(text: unknown): FormField['options'] | null {
  if (!isRecord(text)) return null;
  const { enum: values, enumNames: names, oneOf, anyOf } = text;
  const titled = oneOf ?? anyOf;
  const all = Array.isArray(titled)
    ? titled.map((one) => (isRecord(one) ? [one['const'], one['title']] : []))
    : Array.isArray(values)
      ? values.map((value, at) => [value, Array.isArray(names) ? names[at] : value])
      : undefined;
  if (!all) return undefined;
  const options = all.flatMap(([value, title]) =>
    typeof value === 'string' && value.length <= MAX_LABEL && isStorable(value)
      ? [{ value, title: words(title, MAX_LABEL) || value }]
      : [],
  );
  return options.length === all.length && options.length <= MAX_OPTIONS ? options : null;
}

/** The answer that is sent when nobody changes anything. */
export function standardAnswer({ fields }: Pick<McpForm, 'fields'>): FormContent {
  return Object.fromEntries(
    fields.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Says, for the person who answers, why the answer does not fit the form; undefined when it fits. */
export function answerProblem(
  { fields }: Pick<McpForm, 'fields'>,
  answer: Readonly<Record<string, unknown>>,
): string | undefined {
  const unknown = Object.keys(answer).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) return `there is no field ${unknown.slice(0, 100)}`;
  for (const field of fields) {
    const value = Object.hasOwn(answer, field.name) ? answer[field.name] : undefined;
    if (value === undefined && !field.required) continue;
    const problem = value === undefined ? 'is required' : valueProblem(field, value);
    if (problem !== undefined) return `${field.name} ${problem}`;
  }
  return undefined;
}

function valueProblem(field: FormField, value: unknown): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'number':
    case 'integer':
      return numberProblem(field, value);
    case 'choices':
      return choicesProblem(field, value);
    case 'string':
      return textProblem(field, value);
  }
}

function numberProblem(field: FormField, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (field.type === 'integer' && !Number.isSafeInteger(value)) return 'must be a whole number';
  return boundProblem(field, value, '');
}

function choicesProblem(field: FormField, value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.every((one) => isOption(field, one));
  if (!isList || new Set(value).size < value.length) return 'must be a list of its options, each once';
  return boundProblem(field, value.length, ' choices');
}

function textProblem(field: FormField, value: unknown): string | undefined {
  if (typeof value !== 'string' || !isStorable(value)) return 'must be text';
  if (value.length > MAX_VALUE) return `must have at most ${MAX_VALUE} characters`;
  if (field.options && !isOption(field, value)) return 'must be one of its options';
  return formatProblem(field, value) ?? boundProblem(field, [...value].length, ' characters');
}

function isOption({ options = [] }: FormField, value: unknown): boolean {
  return options.some((option) => option.value === value);
}

function boundProblem({ min, max }: FormField, size: number, of: string): string | undefined {
  if (min !== undefined && size < min) return `must be at least ${min}${of}`;
  return max !== undefined && size > max ? `must be at most ${max}${of}` : undefined;
}

function formatProblem({ format }: FormField, value: string): string | undefined {
  const fits = {
    email: () => /^[^\s@]{1,200}@[^\s@]{1,200}$/.test(value),
    uri: () => URL.canParse(value),
    date: () => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
    'date-time': () => /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)),
  };
  return format === undefined || fits[format]() ? undefined : `must be a valid ${format}`;
}

/** Where a user has to log in, in words. */
export function loginPlace({ login, server }: Pick<McpForm, 'login' | 'server'>): string {
  return login === 'program' ? `the program ${server}` : `the MCP server ${server}`;
}

/** The form in lines for people. `fields` describe the `args` of an answer. */
export function formLines({ server, message, url, prompt, login, fields }: McpForm): string[] {
  if (login) return [message];
  return [
    `the MCP server ${server} asks: ${message}`,
    ...(prompt ? promptLines(prompt) : []),
    ...(url === undefined ? [] : [`open ${url} and approve when it is done`]),
    ...fields.map(({ name, title, description, type, required, format, options }) =>
      [
        `${name} (${[format ?? type, required ? 'required' : ''].filter(Boolean).join(', ')})`,
        title === name ? '' : `: ${title}`,
        description === undefined ? '' : ` – ${description}`,
        options ? `; one of ${options.map(({ value }) => value).join(', ')}` : '',
      ].join(''),
    ),
  ];
}

/** The form as JSON Schema, for an MCP client that shows it to its user. */
export function formSchema({ fields }: Pick<McpForm, 'fields'>): Readonly<Record<string, unknown>> {
  const properties = fields.map(
    ({ name, title, description, type, format, min, max, options, default: standard }) => {
      const values = options?.map(({ value, title: shown }) => ({ const: value, title: shown }));
      const isList = type === 'choices';
      const [lower, upper] = BOUNDS[type];
      const choices = values && (isList ? { items: { anyOf: values } } : { oneOf: values });
      const shape = { type: isList ? 'array' : type, title, description, format, default: standard };
      return [name, defined({ ...shape, [lower]: min, [upper]: max, ...choices })];
    },
  );
  const required = fields.flatMap((field) => (field.required ? [field.name] : []));
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

/**
 * The answer from a page's form: pairs of a field's name and a text, several pairs of one name for choices. An empty
 * text counts as absent.
 */
export function readAnswer(
  { fields }: Pick<McpForm, 'fields'>,
  sent: readonly (readonly [string, string])[],
): FormContent {
  return Object.fromEntries(
    fields.flatMap(({ name, type, min }): [string, FormValue][] => {
      const texts = sent.flatMap(([field, text]) => (field === name ? [text] : []));
      const [text = ''] = texts;
      if (type === 'choices') return min && texts.length === 0 ? [] : [[name, texts]];
      if (type === 'boolean') return [[name, text === 'true']];
      if (text === '') return [];
      return [[name, type === 'string' ? text : Number(text)]];
    }),
  );
}

function words(value: unknown, max: number): string {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '').slice(0, max) : '';
}
