/**
 * Makes what packages/client knows of the API: operations.ts has the types of every operation, such as
 * 'GET /v1/sessions/{key}', from the OpenAPI document; remedies.ts says what a caller does about each error.
 */
import { globSync, readFileSync } from 'node:fs';
import { keepPage } from './generated-page.ts';
import { type Content, type Operation, readDocument, type Schema } from './openapi-document.ts';
import { REMEDIES } from '#domain/remedies.ts';

/** Operations by which pages of the console make addresses, which no type checks. */
const NAMED = /['"]((?:GET|POST|PUT|PATCH|DELETE) (\/v1\/[^'"]*))['"]/g;

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'unknown';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either) {
    const types = [...new Set(either.map(typeOf))];
    // A type says nothing beside another that contains it.
    return types.filter((type) => !(type.startsWith('"') && types.includes('string'))).join(' | ');
  }
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ');
  if (typeof schema.type === 'object')
    return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.type === 'integer') return 'number';
  if (schema.type === 'array') return `readonly (${typeOf(schema.items)})[]`;
  if (schema.type === 'object') return objectOf(schema);
  return schema.type ?? 'unknown';
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `readonly ${nameOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)};`,
  );
  if (fields.length > 0) return `{ ${fields.join(' ')} }`;
  const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
  return `Readonly<Record<string, ${value}>>`;
}

function nameOf(field: string): string {
  return /^[A-Za-z_]\w*$/.test(field) ? field : JSON.stringify(field);
}

function entryOf(name: string, { parameters = [], requestBody, responses }: Operation): string {
  const fieldsOf = (place: string): string =>
    parameters
      .filter((one) => one.in === place)
      .map(({ name: field, required, schema }) => {
        const isRequired = required === true && schema.default === undefined;
        return `${nameOf(field)}${isRequired ? '' : '?'}: ${typeOf(schema)};`;
      })
      .join(' ');
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const body = requestBody ? typeOf(requestBody.content?.['application/json']?.schema) : 'undefined';
  return `  '${name}': { params: { ${fieldsOf('path')} }; query: { ${fieldsOf('query')} }; body: ${body}; ${answered(answer?.content)} };`;
}

/** What is no JSON and no text is bytes. A stream has events instead of one answer. */
function answered(content: Content | undefined): string {
  const [type, { schema }] = Object.entries(content ?? {})[0] ?? ['', {}];
  if (content === undefined) return 'answer: undefined';
  if (type === 'text/event-stream') return `event: ${typeOf(schema)}`;
  if (type === 'application/json') return `answer: ${typeOf(schema)}`;
  return `answer: ${type.startsWith('text/') ? 'string' : 'Blob'}`;
}

const paths = await readDocument();
for (const file of globSync('console/src/**/*.{ts,tsx}'))
  for (const [, name = '', path = ''] of readFileSync(file, 'utf8').matchAll(NAMED))
    if (!paths[path]?.[name.split(' ')[0]?.toLowerCase() ?? ''])
      throw new Error(`${file} names ${name}, which the OpenAPI document does not have`);
const entries = Object.entries(paths)
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      entryOf(`${method.toUpperCase()} ${path}`, operation),
    ),
  )
  .toSorted();
const MADE = 'Made by scripts/generate-client-types.ts';
keepPage(
  'packages/client/src/operations.ts',
  `/** ${MADE} from the OpenAPI document: every operation of the API. */
export interface Operations {
${entries.join('\n')}
}
`,
);
const remedies = Object.entries(REMEDIES).map(([code, words]) => `  ${code}: ${JSON.stringify(words)},`);
keepPage(
  'packages/client/src/remedies.ts',
  `/** ${MADE} from domain/remedies.ts: what a caller does about each error code of the API. */
export const REMEDIES: Readonly<Record<string, string>> = {
${remedies.join('\n')}
};
`,
);
