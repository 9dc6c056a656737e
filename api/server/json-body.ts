/**
 * Reads JSON bodies. It accepts only UTF-8 and only what Postgres and every other reader can store, and prevents
 * prototype pollution.
 */
import { Failure } from '#domain/errors.ts';
import type { Api } from '../deps.ts';

/** Deeper values overflow stacks later on; people do not write them. */
const MAX_DEPTH = 64;
const MAX_VALUES = 100_000;
/** Bytes of a body that is looked at before it is read: millions of small values would take seconds and a gigabyte. */
const LARGE = 1_048_576;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Replaces fastify's parser, which turns broken UTF-8 into replacement characters. */
export function readJsonBodies(app: Api): void {
  app.removeAllContentTypeParsers();
  readBodiesAsJson(app, 'application/json');
}

/** Also reads bodies of another content type that is JSON. */
export function readBodiesAsJson(app: Api, contentType: string): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>(contentType, { parseAs: 'buffer' }, (request, body, done) => {
    const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
      done(new Failure('UnsupportedMedia', 'JSON is UTF-8; send application/json without another charset'));
      return;
    }
    // If it were read as it is, it would be a different document from the client's.
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
      done(new Failure('UnsupportedMedia', 'Send the body without a Content-Encoding'));
      return;
    }
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    if (body.length > LARGE && hasManyValues(body)) {
      done(tooManyValues());
      return;
    }
    const text = decode(body);
    if (text === undefined) {
      done(new Failure('InvalidInput', 'The body is not UTF-8'));
      return;
    }
    // The promise is ignored, because the parser answers through `done`.
    void parse(request, text, (error: Error | null, value?: unknown) => {
      if (error) done(new Failure('InvalidInput', 'The body is not JSON that can be read'));
      else done(problemOf(value) ?? null, value);
    });
  });
}

function decode(body: Buffer): string | undefined {
  try {
    return decoder.decode(body);
  } catch {
    // The caller gets the error "not UTF-8".
    return undefined;
  }
}

/** Walks without recursion, because the value may be as deep as the body is long. */
function problemOf(value: unknown): Failure | undefined {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  for (let seen = 1; ; seen += 1) {
    const next = open.pop();
    if (!next) return undefined;
    if (seen > MAX_VALUES) return tooManyValues();
    if (next.depth > MAX_DEPTH)
      return new Failure('InvalidInput', `The body is nested deeper than ${MAX_DEPTH}`);
    if (typeof next.value === 'string' && !isCleanText(next.value)) return uncleanText();
    if (typeof next.value === 'number' && !Number.isFinite(next.value))
      return new Failure('InvalidInput', 'The body holds a number that is too large');
    if (typeof next.value !== 'object' || next.value === null) continue;
    for (const [key, inner] of Object.entries(next.value)) {
      if (!isCleanText(key)) return uncleanText();
      open.push({ value: inner, depth: next.depth + 1 });
    }
  }
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('"\\,[{');

/** Whether there are more values than possible. Outside its texts, a document has at most two of these signs a value. */
function hasManyValues(body: Buffer): boolean {
  let isText = false;
  let signs = 0;
  for (let at = 0; at < body.length && signs <= 2 * MAX_VALUES; at += 1) {
    const sign = body[at];
    if (sign === QUOTE) isText = !isText;
    else if (isText) at += sign === BACKSLASH ? 1 : 0;
    else if (sign === COMMA || sign === BRACKET || sign === BRACE) signs += 1;
  }
  return signs > 2 * MAX_VALUES;
}

function tooManyValues(): Failure {
  return new Failure('InvalidInput', `The body holds more than ${MAX_VALUES} values`);
}

function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function uncleanText(): Failure {
  return new Failure('InvalidInput', 'The body holds text with NUL or a lone surrogate');
}
