/** Makes the command that runs from a template and arguments: each argument is one quoted word, in one pass (CU-2). */
import type { Parameters, Property, Scalar } from './check-parameters.ts';
import { fill, type Placeholder, type Template } from './template.ts';

/** UTF-8 bytes of one argument (Linux: MAX_ARG_STRLEN), and of the whole command, which is an argument of the shell. */
const MAX_VALUE_BYTES = 131_071;
export const MAX_RENDERED_BYTES = 120_000;

export type Rendered =
  | { readonly ok: true; readonly command: string }
  | {
      readonly ok: false;
      /** The argument that is wrong; null when it is all of them together. */
      readonly key: string | null;
      readonly message: string;
    };

export type Arguments = Readonly<Record<string, unknown>>;

/** Renders the command, or returns a message for the model when an argument is missing or cannot be one word. */
export function renderCommand(template: Template, parameters: Parameters, args: Arguments): Rendered {
  const values: string[] = [];
  for (const place of template.placeholders) {
    const value = valueOf(place, parameters, args);
    if (!value.ok) return { ...value, key: place.key };
    values.push(value.text === null ? '' : quoteWord(value.text));
  }
  const command = fill(template.texts, values);
  if (Buffer.byteLength(command) > MAX_RENDERED_BYTES)
    return {
      ok: false,
      key: null,
      message: `are too long: a command has at most ${MAX_RENDERED_BYTES} bytes`,
    };
  return { ok: true, command };
}

/** Puts the text in single quotes; a quote within is closed, escaped and opened again. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A placeholder's argument as text; null when it is omitted. */
export function valueOf(
  place: Placeholder,
  parameters: Parameters,
  args: Arguments,
): { readonly ok: true; readonly text: string | null } | { readonly ok: false; readonly message: string } {
  const { key } = place;
  const property = parameters.properties[key] ?? {};
  const refuse = (message: string) => ({ ok: false, message }) as const;
  const value = Object.hasOwn(args, key) ? args[key] : property.default;
  if (value === undefined || value === null)
    return parameters.required?.includes(key) || !place.isWord
      ? refuse('is required')
      : { ok: true, text: null };
  if (!isScalar(value)) return refuse('must be one text, number or boolean');
  const text = String(value);
  const problem = wordProblem(text, place, property);
  return problem === undefined ? { ok: true, text } : refuse(problem);
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** Which words programs read as the name of a file; with a third element, only after such a word. */
const FILE_READERS: readonly (readonly [programs: string, word: RegExp, previous?: RegExp])[] = [
  ['curl curlie', /^(?:-\w+)?@|^-\w*F.*=[@<]/s],
  ['curl curlie', /=[@<]/, /^(?:-\w*F|--form)?$/],
  ['curl curlie', /^[^=]*@/, /^(?:--(?:data-u|url-q|var).*)?$/],
  ['curlie http https xh', /^(?:\\.|[^=:@\\])*[=:]{0,2}@/],
  ['gh', /^(?:-\w*F|--field=)[^=]*=@/],
  ['gh', /^[^=]*=@/, /^(?:-\w*F|--field)?$/],
  ['gcc g++ cc c++ clang clang++ ld ar java javac 7z 7za 7zr', /^@/],
  ['aws', /(?:^|=)fileb?:\/\//],
];

function wordProblem(text: string, place: Placeholder, property: Property): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character, which no argument may';
  if (!text.isWellFormed()) return 'is not valid Unicode';
  if (Buffer.byteLength(text) > MAX_VALUE_BYTES) return `is too long: at most ${MAX_VALUE_BYTES} bytes`;
  if (isExpected(text, property)) return undefined;
  const { head, written, previous, program, isAfterDashes } = place;
  if (head === '' && text.startsWith('-') && !isAfterDashes)
    return 'begins with -, which the program would take for an option';
  const reads = FILE_READERS.some(
    ([programs, word, behind]) =>
      programs.split(' ').includes(program) &&
      (behind?.test(previous) ?? true) &&
      // If the author's text already names a file, the argument may name it.
      !word.test(written) &&
      word.test(head + text),
  );
  return reads ? `is such that ${program} would read a file by it` : undefined;
}

/** True if the schema itself describes such values, so that the author expects them. */
function isExpected(text: string, { enum: listed, const: only, pattern, minimum }: Property): boolean {
  if (listed?.some((one) => String(one) === text) || (only !== undefined && String(only) === text))
    return true;
  if (pattern !== undefined && /^\^\\?[-@]/.test(pattern)) return true;
  return minimum !== undefined && minimum < 0 && /^-\d/.test(text);
}
