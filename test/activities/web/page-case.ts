/** A page, and what of it a model may read. */

export interface PageCase {
  readonly name: string;
  readonly type?: string;
  readonly body: string | Buffer;
  readonly mode?: 'markdown' | 'text' | 'json';
  /** Stand in the text, in this order. */
  readonly has: readonly (string | RegExp)[];
  /** Stand nowhere in the text or the notes. */
  readonly lacks?: readonly (string | RegExp)[];
}

export const doc = (body: string, head = ''): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>SEEN0</title>${head}</head><body>${body}</body></html>`;
