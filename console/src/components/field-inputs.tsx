/** The inputs of single fields. */
import type { Signal } from '@preact/signals';
import { choicesOf, type FieldSchema, isOneOrMore } from './field-schema.ts';

export interface InputProps {
  readonly name: string;
  /** Names on the way to it, with slashes between them. */
  readonly path: string;
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly broken: Signal<ReadonlySet<string>>;
  readonly errors: readonly { readonly pointer?: string; readonly message?: string }[];
  readonly attributes: {
    readonly id: string;
    readonly required: boolean;
    readonly 'aria-invalid': boolean;
    readonly 'aria-describedby': string;
  };
  readonly change: (value: unknown) => void;
}

const WORDS: ReadonlyMap<unknown, string> = new Map([
  [true, 'yes'],
  [false, 'no'],
]);

function wordOf(value: unknown): string {
  return WORDS.get(value) ?? String(value);
}

function ChoiceInput({ schema, isRequired, value, attributes, change }: InputProps) {
  const choices = choicesOf(schema);
  const usual = schema.default === undefined ? '' : `${wordOf(schema.default)} (usual)`;
  return (
    <select
      {...attributes}
      value={value === undefined ? '' : wordOf(value)}
      onChange={({ currentTarget }) => change(choices.find((one) => wordOf(one) === currentTarget.value))}
    >
      {(!isRequired || value === undefined) && <option value="">{usual}</option>}
      {choices.map((one) => (
        <option key={wordOf(one)}>{wordOf(one)}</option>
      ))}
    </select>
  );
}

function ChoicesInput({ schema: { items = {} }, value, change }: InputProps) {
  const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
  const choose = (one: unknown, isChosen: boolean): void => {
    const others = chosen.filter((other) => other !== one);
    const next = isChosen ? [...others, one] : others;
    change(next.length > 0 ? next : undefined);
  };
  return (
    <div class="buttons">
      {choicesOf(items).map((one) => (
        <label key={wordOf(one)} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ currentTarget }) => choose(one, currentTarget.checked)}
          />
          {wordOf(one)}
        </label>
      ))}
    </div>
  );
}

function NumberInput({ schema, value, attributes, change }: InputProps) {
  return (
    <input
      {...attributes}
      type="number"
      step={schema.type === 'integer' ? 1 : 'any'}
      min={schema.minimum}
      max={schema.maximum}
      placeholder={schema.default === undefined ? '' : String(schema.default)}
      value={typeof value === 'number' ? value : ''}
      onInput={({ currentTarget }) =>
        change(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)
      }
    />
  );
}

function TextInput({ schema, isRequired, value, attributes, change }: InputProps) {
  const text = String(value ?? '');
  return (
    <textarea
      {...attributes}
      class={schema.format === 'password' ? 'concealed' : undefined}
      rows={rowsOf(text)}
      spellcheck={false}
      autocomplete="off"
      maxLength={schema.maxLength}
      placeholder={typeof schema.default === 'string' ? schema.default : ''}
      value={text}
      onInput={({ currentTarget }) =>
        change(currentTarget.value === '' && !isRequired ? undefined : currentTarget.value)
      }
    />
  );
}

/** Shown and written in the time zone of the browser. */
function TimeInput({ value: at, attributes, change }: InputProps) {
  const time = new Date(String(at));
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return (
    <input
      {...attributes}
      type="datetime-local"
      step={1}
      value={Number.isNaN(local.getTime()) ? '' : local.toISOString().slice(0, 19)}
      onInput={({ currentTarget: { value } }) =>
        change(value === '' ? undefined : new Date(value).toISOString())
      }
    />
  );
}

/** Where one text is possible too, a single line is that. */
function LinesInput(props: InputProps) {
  const read = (text: string): unknown => {
    const lines = text.split('\n').map((line) => line.trim());
    const filled = lines.filter((line) => line !== '');
    return filled.length === 1 && isOneOrMore(props.schema) ? filled[0] : filled;
  };
  return (
    <WrittenInput {...props} text={[props.value ?? []].flat().join('\n')} hint="One a line" read={read} />
  );
}

function JsonInput(props: InputProps) {
  const text = props.value === undefined ? '' : JSON.stringify(props.value, null, 2);
  return <WrittenInput {...props} text={text} hint="JSON" read={JSON.parse} />;
}

interface WrittenProps extends InputProps {
  readonly text: string;
  readonly hint: string;
  /** Throws when the text cannot be read. */
  readonly read: (text: string) => unknown;
}

/** Its text stays as it is written, also while it cannot be read. */
function WrittenInput({ path, text, hint, read, broken, attributes, change }: WrittenProps) {
  const write = (written: string): void => {
    const others = new Set(broken.value);
    others.delete(path);
    try {
      change(written.trim() === '' ? undefined : read(written));
    } catch {
      others.add(path);
    }
    broken.value = others;
  };
  return (
    <textarea
      {...attributes}
      rows={rowsOf(text)}
      spellcheck={false}
      placeholder={hint}
      aria-invalid={attributes['aria-invalid'] || broken.value.has(path)}
      defaultValue={text}
      onInput={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}

const MAX_ROWS = 14;

function rowsOf(text: string): number {
  return Math.min(MAX_ROWS, text.split('\n').length);
}

export const INPUTS = {
  choice: ChoiceInput,
  choices: ChoicesInput,
  number: NumberInput,
  text: TextInput,
  time: TimeInput,
  lines: LinesInput,
  json: JsonInput,
};
