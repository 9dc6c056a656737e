/** Reads standard input as JSON, one value a line. It reports a line that is not JSON by its number and continues. */

export type JsonLine =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly problem: string };

/** Characters; a longer line is one problem, and is not kept. */
const MAX_LINE = 4 * 1024 * 1024;

/** Lines in order, without blank ones. */
export async function* readJsonLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<JsonLine> {
  const decoder = new TextDecoder();
  let rest = '';
  let isTooLong = false;
  let line = 0;
  const take = (text: string): JsonLine | undefined => {
    line += 1;
    const wasTooLong = isTooLong || text.length > MAX_LINE;
    isTooLong = false;
    return wasTooLong ? { line, problem: `longer than ${MAX_LINE} characters` } : parse(line, text);
  };
  for await (const chunk of input) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      const read = take(text);
      if (read) yield read;
    }
    if (rest.length > MAX_LINE) {
      isTooLong = true;
      rest = '';
    }
  }
  const last = rest === '' && !isTooLong ? undefined : take(rest + decoder.decode());
  if (last) yield last;
}

function parse(line: number, text: string): JsonLine | undefined {
  if (text.trim() === '') return undefined;
  try {
    return { line, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { line, problem: error instanceof Error ? error.message : String(error) };
  }
}
