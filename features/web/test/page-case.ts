/** A page, and the part of it that a model may read. */

export interface PageCase {
  readonly name: string;
  readonly type?: string;
  readonly body: string | Buffer;
  readonly mode?: 'markdown' | 'text' | 'json';
  /** These are in the text, in this order. */
  readonly has: readonly (string | RegExp)[];
  /** These are nowhere in the text or the notes. */
  readonly lacks?: readonly (string | RegExp)[];
}

export const doc = (body: string, head = ''): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>SEEN0</title>${head}</head><body>${body}</body></html>`;

/** Why the model's view differs from what it may read of the page. */
export function problemsIn(
  shown: string,
  { has, lacks = [] }: Pick<PageCase, 'has' | 'lacks'>,
): readonly string[] {
  let from = 0;
  const missing = has.filter((expected) => {
    const at =
      typeof expected === 'string'
        ? shown.indexOf(expected, from)
        : shown.slice(from).search(expected) + from;
    if (at < from) return true;
    from = at;
    return false;
  });
  const leaked = lacks.filter((unwanted) =>
    typeof unwanted === 'string' ? shown.includes(unwanted) : unwanted.test(shown),
  );
  return [
    ...missing.map((one) => `lacks ${one}`),
    ...leaked.map((one) => `leaks ${JSON.stringify(String(one))}`),
  ].map((why) => `${why}: ${JSON.stringify(shown.slice(0, 400))}`);
}
