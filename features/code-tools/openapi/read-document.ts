/** Reads an OpenAPI document and brings it to version 3.1. Its problems are errors with texts for people. */
import { open } from 'node:fs/promises';
import { upgrade } from '@scalar/openapi-upgrader';
import { parse } from 'yaml';

export type Json = Readonly<Record<string, unknown>>;

export interface ReadDocument {
  readonly document: Json;
  readonly text: string;
  /** Where it was read, which its servers may be relative to; undefined when it was not at an address. */
  readonly url?: URL;
}

/** GitHub's, which is among the largest, has 13 million. */
const MAX_BYTES = 30_000_000;
const TIMEOUT_MS = 30_000;

export async function readDocument(source: string | URL | object): Promise<ReadDocument> {
  if (typeof source !== 'string' && !(source instanceof URL))
    return { document: upgraded(source as Json), text: JSON.stringify(source) };
  const url = URL.canParse(String(source)) ? new URL(source) : undefined;
  if (url && /^https?:$/.test(url.protocol)) {
    const text = await fetchText(url);
    return { document: parsed(text), text, url };
  }
  const text = await readText(url ?? source);
  return { document: parsed(text), text };
}

async function fetchText(url: URL): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url.href} answers with ${response.status}`);
  let text = '';
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > MAX_BYTES) throw tooLong();
  }
  return text;
}

async function readText(file: string | URL): Promise<string> {
  const opened = await open(file);
  try {
    if ((await opened.stat()).size > MAX_BYTES) throw tooLong();
    return await opened.readFile('utf8');
  } finally {
    await opened.close();
  }
}

function tooLong(): Error {
  return new Error(`the document has more than ${MAX_BYTES} characters`);
}

/** JSON is YAML too. */
function parsed(text: string): Json {
  return upgraded(parse(text, { maxAliasCount: 1_000 }) as unknown);
}

function upgraded(value: unknown): Json {
  if (!isObject(value) || !(value['openapi'] ?? value['swagger']))
    throw new Error('the document is no OpenAPI document: it has neither openapi nor swagger');
  const document = upgrade(structuredClone(value) as Record<string, unknown>, '3.1') as unknown as Json;
  if (!isObject(document['paths'])) throw new Error('the document has no paths');
  return document;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
