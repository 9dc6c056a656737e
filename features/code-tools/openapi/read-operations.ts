/** The operations of a document: their names, their arguments as one JSON Schema, and where each argument goes. */
import { isObject, type Json, objectsIn } from './read-document.ts';
import { createSchemas, resolved } from './references.ts';

/** How an argument is written into a request. */
export interface Parameter {
  /** Of the argument; `name` is the one in the request. */
  readonly argument: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly isExploded: boolean;
  readonly isDeep: boolean;
  /** Written as JSON. */
  readonly isJson: boolean;
}

export interface ReadOperation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly schema: Json;
  readonly parameters: readonly Parameter[];
  /** Media type of the argument `body`. */
  readonly body?: string;
  readonly server?: string;
  /** Names of security schemes, the first that is enough. */
  readonly security: readonly string[];
}

const METHODS = ['get', 'head', 'put', 'delete', 'post', 'patch'];
/** What tool hosts can send. */
const BODIES = /^application\/(?:[\w.+-]*\+)?json\b|^application\/x-www-form-urlencoded\b/;
/** The specification lets these be set by other means only. */
const OWN_HEADERS = /^(?:accept|content-type|authorization)$/i;
/** Characters of a tool's name, less those of its file's name. */
const MAX_NAME = 48;

/** Operations that cannot be tools, such as uploads of files, are left out unless `only` names them. */
export function readOperations(document: Json, only?: readonly string[]): readonly ReadOperation[] {
  const operations = new Map<string, ReadOperation>();
  const problems: string[] = [];
  for (const [path, shared] of Object.entries(document['paths'] as Json)) {
    const item = resolved(document, shared) ?? {};
    for (const method of METHODS.filter((one) => isObject(item[one]))) {
      const operation = item[method] as Json;
      const name = freeName(nameOf(operation, method, path), operations);
      if (only && !only.includes(name)) continue;
      const read = readOperation(document, { path, method, item, operation, name });
      if (typeof read !== 'string') operations.set(name, read);
      else if (only) problems.push(`${name}: ${read}`);
    }
  }
  const unknown = only?.filter(
    (name) => !operations.has(name) && !problems.some((one) => one.startsWith(`${name}:`)),
  );
  for (const name of unknown ?? []) problems.push(`the document has no operation ${name}`);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return [...operations.values()];
}

function nameOf({ operationId }: Json, method: string, path: string): string {
  const words = typeof operationId === 'string' ? operationId : `${method} ${path}`;
  const name = words
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return (name || method).slice(0, MAX_NAME);
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : `_${number}`;
    const free = `${name.slice(0, MAX_NAME - end.length)}${end}`;
    if (!taken.has(free)) return free;
  }
}

interface Place {
  readonly path: string;
  readonly method: string;
  readonly item: Json;
  readonly operation: Json;
  readonly name: string;
}

/** The operation, or why it cannot be a tool. */
function readOperation(document: Json, place: Place): ReadOperation | string {
  const { path, method, item, operation, name } = place;
  const { schemaOf, defs } = createSchemas(document);
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const add = (argument: string, schema: unknown, description: unknown, isRequired: boolean): void => {
    const described = typeof description === 'string' ? { description } : {};
    properties[argument] = isObject(schema) ? { ...schema, ...described } : described;
    if (isRequired) required.push(argument);
  };
  const parameters = parametersOf(document, item, operation).map((parameter): Parameter => {
    const { name: own, in: at, schema, content, style, explode, description, required: needed } = parameter;
    const [media] = isObject(content) ? Object.values(content) : [];
    const argument =
      Object.hasOwn(properties, String(own)) || own === 'body' ? `${String(at)}_${String(own)}` : String(own);
    add(
      argument,
      schemaOf(isObject(media) ? media['schema'] : schema),
      description,
      needed === true || at === 'path',
    );
    return {
      argument,
      name: String(own),
      in: at as Parameter['in'],
      isExploded: explode !== undefined ? explode === true : at === 'query',
      isDeep: style === 'deepObject',
      isJson: isObject(media),
    };
  });
  const body = resolvedBody(document, operation);
  if (typeof body === 'string') return body;
  if (body) add('body', schemaOf(body.schema), body.description, body.isRequired);
  const [server] = [operation, item, document].flatMap(({ servers }) => objectsIn(servers).slice(0, 1));
  return {
    name,
    method: method.toUpperCase(),
    path,
    tags: Array.isArray(operation['tags']) ? operation['tags'].map(String) : [],
    description: describe(operation, method, path),
    schema: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...(Object.keys(defs).length > 0 && { $defs: defs }),
    },
    parameters,
    ...(body && { body: body.media }),
    ...(server && { server: serverUrl(server) }),
    security: objectsIn(operation['security'] ?? document['security']).flatMap((one) => Object.keys(one)),
  };
}

/** An operation's own parameters replace those of its path. */
function parametersOf(document: Json, item: Json, operation: Json): readonly Json[] {
  const all = [item['parameters'], operation['parameters']].flatMap((list) =>
    objectsIn(list).map((one) => resolved(document, one) ?? {}),
  );
  const byPlace = new Map(all.map((one) => [`${String(one['in'])}/${String(one['name'])}`, one]));
  return [...byPlace.values()].filter(
    ({ in: at, name }) =>
      at === 'path' || at === 'query' || (at === 'header' && !OWN_HEADERS.test(String(name))),
  );
}

function resolvedBody(document: Json, { requestBody }: Json) {
  if (requestBody === undefined) return undefined;
  const { content, description, required } = resolved(document, requestBody) ?? {};
  const media = isObject(content) ? content : {};
  const name = Object.keys(media).find((one) => BODIES.test(one));
  if (name === undefined)
    return `its body is ${Object.keys(media).join(', ') || 'unknown'}, and only JSON and forms can be sent`;
  const { schema } = resolved(document, media[name]) ?? {};
  return { media: name, schema, description, isRequired: required === true };
}

function describe({ summary, description }: Json, method: string, path: string): string {
  const texts = [summary, description].filter((one) => typeof one === 'string' && one.trim() !== '');
  const text = [...new Set(texts)].join('\n\n') || `${method.toUpperCase()} ${path}`;
  return text.slice(0, 2_000);
}

/** With the defaults of its variables. */
function serverUrl({ url, variables }: Json): string {
  const values = isObject(variables) ? variables : {};
  return String(url).replaceAll(/\{([^}]+)\}/g, (whole, name: string) => {
    const variable = values[name];
    return isObject(variable) ? String(variable['default']) : whole;
  });
}
