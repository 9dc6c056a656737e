import { argumentsOf, programOf, type ShellCommand } from '../shell-command.ts';

/** Greatest number of characters that a command may make of the words of its line. */
export const MAX_MADE = 16_384;

/** What `echo` or `printf` of literals prints; null when something else prints it, or more than can be followed. */
export function printedText(from: readonly ShellCommand[]): string | null {
  const [only] = from;
  if (from.length !== 1 || !only || !['echo', 'printf'].includes(programOf(only))) return null;
  const words = argumentsOf(only).filter((word, index) => index > 0 || !/^-[neE]+$/.test(word.value));
  const values = words.map((word) => word.value);
  const text = programOf(only) === 'printf' ? formatted(values) : values.join(' ');
  return text?.replaceAll('\\n', '\n').replaceAll('\\t', ' ') ?? null;
}

/** `printf '%s\n' …` repeats its format for all its arguments. Other conversions are kept as they are. */
function formatted([format = '', ...values]: readonly string[]): string | null {
  const parts = format.split(/%[sbq]/);
  if (parts.length === 1 || values.length === 0) return [format, ...values].join(' ');
  let text = '';
  for (let at = 0; at < values.length; at += parts.length - 1) {
    text += parts
      .map((part, index) => (index === 0 ? part : `${values[at + index - 1] ?? ''}${part}`))
      .join('');
    if (text.length > MAX_MADE) return null;
  }
  return text;
}
