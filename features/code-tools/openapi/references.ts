/** References inside a document: of its parts, and of schemas, which become one JSON Schema. */
import { isObject, type Json } from './read-document.ts';

const MAX_DEPTH = 20;

/** The object that `value` is or refers to. */
export function resolved(document: Json, value: unknown): Json | undefined {
  let current: unknown = value;
  for (let depth = 0; depth < MAX_DEPTH && isObject(current); depth += 1) {
    const { $ref } = current;
    if (typeof $ref !== 'string') return current;
    current = pointed(document, $ref);
  }
  throw new Error(`a reference leads nowhere: ${JSON.stringify(value).slice(0, 200)}`);
}

function pointed(document: Json, reference: string): unknown {
  if (!reference.startsWith('#/'))
    throw new Error(`${reference} refers to another document; bundle them into one`);
  return reference
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (at, part) => (isObject(at) || Array.isArray(at) ? (at as Json)[part] : undefined),
      document,
    );
}

/** Keywords for readers of the document, which cost a model tokens. */
const LEFT_OUT = /^(?:xml|nullable|externalDocs|example|examples|discriminator|deprecated|x-.*)$/;
/** Keywords whose keys are names. */
const NAMES = /^(?:properties|patternProperties|\$defs|definitions|dependentSchemas)$/;

/** Makes schemas self-contained: what they refer to is collected in `$defs`. */
export function createSchemas(document: Json) {
  const defs: Record<string, unknown> = {};

  function copy(value: unknown, isNames = false): unknown {
    if (Array.isArray(value)) return value.map((one) => copy(one));
    if (!isObject(value)) return value;
    // What upgrading a document of version 3.0 leaves where there is no type.
    if (value['nullable'] === true && !isNames) {
      const { nullable: _nullable, description, ...schema } = value;
      return { ...(description !== undefined && { description }), anyOf: [copy(schema), { type: 'null' }] };
    }
    const entries = Object.entries(value)
      .filter(([key]) => isNames || !LEFT_OUT.test(key))
      .map(([key, one]) =>
        key === '$ref' && !isNames && typeof one === 'string'
          ? [key, `#/$defs/${collected(one)}`]
          : [
              key,
              key === 'default' || key === 'enum' || key === 'const'
                ? one
                : copy(one, !isNames && NAMES.test(key)),
            ],
      );
    return Object.fromEntries(entries);
  }

  function collected(reference: string): string {
    const name = reference.replace(/^#\/components\/schemas\//, '').replaceAll(/[^\w.-]+/g, '_');
    if (Object.hasOwn(defs, name)) return name;
    // A schema may refer to itself.
    defs[name] = true;
    const schema = pointed(document, reference);
    if (schema === undefined) throw new Error(`${reference} leads nowhere`);
    defs[name] = copy(schema);
    return name;
  }

  return { schemaOf: (value: unknown): unknown => copy(value ?? {}), defs };
}
