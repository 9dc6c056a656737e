/** The request of a call: pure, and without the secret. */
import { isObject, type Json } from './read-document.ts';
import type { Parameter, ReadOperation } from './read-operations.ts';

export interface MadeRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @throws Error when an argument cannot be part of the address */
export function makeRequest(base: string, operation: ReadOperation, input: Json): MadeRequest {
  const present = operation.parameters.filter(({ argument }) => input[argument] !== undefined);
  const at = (place: Parameter['in']): readonly Parameter[] => present.filter((one) => one.in === place);
  let path = operation.path;
  for (const parameter of at('path'))
    path = path.replaceAll(`{${parameter.name}}`, segmentOf(parameter, input[parameter.argument]));
  const url = new URL(`${base.replace(/\/+$/, '')}${path}`);
  for (const parameter of at('query'))
    for (const [name, value] of queryOf(parameter, input[parameter.argument]))
      url.searchParams.append(name, value);
  const headers = Object.fromEntries(at('header').map((one) => [one.name, textOf(input[one.argument])]));
  const { body: media } = operation;
  if (media === undefined || input['body'] === undefined) return { url, headers };
  const body = /form-urlencoded/.test(media) ? formOf(input['body']) : JSON.stringify(input['body']);
  return { url, headers: { ...headers, 'content-type': media }, body };
}

/** Encoding leaves dots, which would name another folder. */
function segmentOf({ argument }: Parameter, value: unknown): string {
  const text = textOf(value);
  if (/^\.{0,2}$/.test(text)) throw new Error(`${argument} must not be ${text === '' ? 'empty' : text}`);
  return encodeURIComponent(text);
}

function queryOf(
  { name, isExploded, isDeep, isJson }: Parameter,
  value: unknown,
): readonly (readonly [string, string])[] {
  if (isJson) return [[name, JSON.stringify(value)]];
  if (Array.isArray(value))
    return isExploded ? value.map((one) => [name, textOf(one)]) : [[name, textOf(value)]];
  if (!isObject(value)) return [[name, textOf(value)]];
  if (isDeep) return Object.entries(value).map(([key, one]) => [`${name}[${key}]`, textOf(one)]);
  if (isExploded) return Object.entries(value).map(([key, one]) => [key, textOf(one)]);
  return [[name, Object.entries(value).flat().map(textOf).join()]];
}

function formOf(value: unknown): string {
  const fields = isObject(value) ? Object.entries(value) : [];
  const form = new URLSearchParams();
  for (const [name, one] of fields)
    for (const each of Array.isArray(one) ? one : [one]) form.append(name, textOf(each));
  return form.toString();
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join();
  return isObject(value) ? JSON.stringify(value) : String(value);
}
