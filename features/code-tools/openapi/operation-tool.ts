/** One operation as a tool: checks its arguments, sends its request, and returns what the service answers. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { CODE_TOOL, type CodeTool, type ToolContext } from '../sdk/tool.ts';
import { makeRequest } from './make-request.ts';
import type { OpenapiOptions } from './options.ts';
import { isObject, type Json, type ReadDocument } from './read-document.ts';
import type { ReadOperation } from './read-operations.ts';

type Auth = NonNullable<OpenapiOptions['auth']>;

/** Bytes of an answer that are read. */
const MAX_ANSWER = 5_000_000;
const MAX_PROBLEM = 4_000;
const TEXT =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson))/;
const REPLAYS: Readonly<Record<string, CodeTool['replay']>> = {
  GET: 'read',
  HEAD: 'read',
  PUT: 'idempotent',
  DELETE: 'idempotent',
};

export function toolOf(
  operation: ReadOperation,
  { document, url }: Pick<ReadDocument, 'document' | 'url'>,
  options: OpenapiOptions,
): CodeTool {
  const { method } = operation;
  const { secret, idempotencyHeader, timeout, approval } = options;
  const base = baseUrl(operation, url, options.baseUrl);
  const auth = options.auth ?? authOf(document, operation);
  const replay = REPLAYS[method] ?? (idempotencyHeader === undefined ? 'once' : 'idempotent');
  const judged = typeof approval === 'function' ? approval(operation) : approval;
  return {
    [CODE_TOOL]: true,
    description: operation.description,
    input: checkedBy(operation.schema),
    parameters: operation.schema,
    replay,
    approval: judged ?? replay !== 'read',
    outside: true,
    ...(secret !== undefined && { secrets: [secret] }),
    ...(timeout !== undefined && { timeout }),
    async run(input, { secrets, signal, idempotencyKey }: ToolContext) {
      const request = makeRequest(base, operation, input as Json);
      const headers = new Headers({
        accept: 'application/json, text/*;q=0.9, */*;q=0.1',
        ...request.headers,
      });
      if (secret !== undefined) authorize(request.url, headers, auth, secrets[secret] ?? '');
      if (idempotencyHeader !== undefined && replay !== 'read')
        headers.set(idempotencyHeader, idempotencyKey);
      const { body } = request;
      // A redirect could carry the secret to another service.
      const response = await fetch(request.url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(body !== undefined && { body }),
      });
      return answerOf(response);
    },
  };
}

/** Refuses what the schema does not permit, in words for the model. */
function checkedBy(schema: Json): z.ZodType {
  let check: ValidateFunction | undefined;
  return z.unknown().superRefine((value, context) => {
    // Compiled at the first call: a document may have hundreds.
    check ??= new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    if (check(value)) return;
    for (const { instancePath, message, params } of (check.errors ?? []).slice(0, 10)) {
      const more = 'additionalProperty' in params ? `: ${String(params['additionalProperty'])}` : '';
      context.addIssue({
        code: 'custom',
        path: instancePath.split('/').slice(1),
        message: `${message ?? 'is wrong'}${more}`,
      });
    }
  });
}

function baseUrl({ server, name }: ReadOperation, url: URL | undefined, own: string | undefined): string {
  const found = own ?? server;
  if (found !== undefined && URL.canParse(found, url?.href)) return new URL(found, url).href;
  if (found === undefined && url) return url.origin;
  throw new Error(`${name}: the document names no server with an address; give baseUrl`);
}

/** What the first of its security schemes asks for. */
function authOf(document: Json, { security: [first] }: ReadOperation): Auth {
  const { components } = document;
  const schemes =
    isObject(components) && isObject(components['securitySchemes']) ? components['securitySchemes'] : {};
  const scheme = first === undefined ? Object.values(schemes)[0] : schemes[first];
  if (!isObject(scheme)) return 'bearer';
  const { type, in: place, name, scheme: kind } = scheme;
  if (type === 'apiKey' && place === 'query') return { query: String(name) };
  if (type === 'apiKey' && place === 'header') return { header: String(name) };
  return type === 'http' && String(kind).toLowerCase() === 'basic' ? 'basic' : 'bearer';
}

function authorize(url: URL, headers: Headers, auth: Auth, secret: string): void {
  if (auth === 'bearer') headers.set('authorization', `Bearer ${secret}`);
  else if (auth === 'basic') headers.set('authorization', `Basic ${Buffer.from(secret).toString('base64')}`);
  else if ('header' in auth) headers.set(auth.header, secret);
  else url.searchParams.set(auth.query, secret);
}

async function answerOf(response: Response): Promise<string> {
  const { status, statusText, headers } = response;
  const location = headers.get('location');
  if (status >= 300 && status < 400)
    throw new Error(`${status}: it redirects to ${location ?? 'nowhere'}, which is not followed`);
  const type = headers.get('content-type') ?? 'text/plain';
  const bytes = await bytesOf(response);
  const text = TEXT.test(type) ? new TextDecoder().decode(bytes) : `[${bytes.length} bytes of ${type}]`;
  if (!response.ok) throw new Error(`${status} ${statusText}\n${text.slice(0, MAX_PROBLEM)}`.trim());
  return text === '' ? `${status} ${statusText}`.trim() : text;
}

async function bytesOf({ body }: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    size += part.length;
    if (size > MAX_ANSWER) throw new Error(`the answer has more than ${MAX_ANSWER} bytes`);
  }
  return Buffer.concat(parts);
}
