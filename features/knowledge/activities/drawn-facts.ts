/**
 * Reads what a model extracted from a part of a document. Its answer is untrusted text, so each fact is read alone,
 * bounded, or omitted.
 */
import { z } from 'zod';
import {
  type DrawnFacts,
  type DrawnRelation,
  KNOWLEDGE_LIMITS as LIMITS,
  nameKey,
  typeKey,
} from '../contract.ts';
import type { OfferedTool } from '#domain/model/model.ts';

const name = z.string().max(2_000);
const line = z.int().min(1).max(1_000_000).describe('Number of the line that says it');
const day = z
  .string()
  .max(40)
  .optional()
  .describe('A date that the text itself gives: YYYY, YYYY-MM, YYYY-MM-DD or ISO 8601; else leave it out');

const entitySchema = z.object({
  name: name.describe('The fullest name that the text has for it'),
  type: name.describe('One word: person, organization, place, project, product, event, or a better one'),
  aliases: z.array(name).max(100).optional().describe('Other names that the text has for the same'),
  line,
});

const relationSchema = z.object({
  from: name.describe('Name of an entity above'),
  relation: name.describe('A verb in the present tense: works_at, lives_in, owns'),
  to: name.describe('Name of an entity above'),
  line,
  to_line: line.optional().describe('The last such line, where it takes several'),
  valid_from: day,
  valid_to: day,
  single: z
    .boolean()
    .optional()
    .describe('Whether `from` can have only one such relation at a time, as of where somebody lives'),
});

/** The one call that an extraction requests. */
export const RECORD_FACTS: OfferedTool = {
  name: 'record_facts',
  description: 'Record the entities and relations that the text states',
  parameters: z.toJSONSchema(
    z.object({ entities: z.array(entitySchema), relations: z.array(relationSchema) }),
  ),
};

/**
 * `args` are the call's unchecked arguments. `last` is the last line that was shown, from 1. `clean` makes a text fit
 * for rows.
 */
export function readDrawnFacts(
  args: Readonly<Record<string, unknown>>,
  last: number,
  clean: (text: string) => string,
): DrawnFacts {
  const nameOf = (text: string): string =>
    clean(text).replace(/\s+/g, ' ').trim().slice(0, LIMITS.name).trimEnd();
  const typeOf = (text: string): string => typeKey(nameOf(text)).slice(0, LIMITS.type);
  const at = (value: number): number => Math.min(value, last) - 1;
  const entities = each(args['entities'], entitySchema, LIMITS.entities).flatMap((input) => {
    const names = [input.name, ...(input.aliases ?? []).slice(0, LIMITS.aliases)].map(nameOf);
    const [shown, type] = [names[0], typeOf(input.type)];
    return shown && type ? [{ type, names: names.filter(Boolean), line: at(input.line) }] : [];
  });
  const places = new Map<string, number>();
  for (const [place, { names }] of entities.entries())
    for (const one of names) if (!places.has(nameKey(one))) places.set(nameKey(one), place);
  const relations = each(args['relations'], relationSchema, LIMITS.relations).flatMap(
    (input): DrawnRelation[] => {
      const from = places.get(nameKey(nameOf(input.from)));
      const to = places.get(nameKey(nameOf(input.to)));
      const type = typeOf(input.relation);
      if (from === undefined || to === undefined || from === to || !type) return [];
      const first = at(input.line);
      const toLine = Math.max(first, at(input.to_line ?? input.line));
      const [validFrom, validTo] = [isoTime(input.valid_from), isoTime(input.valid_to)];
      return [{ from, to, type, line: first, toLine, validFrom, validTo, isSingle: input.single ?? false }];
    },
  );
  return { entities, relations: relations.toSorted((one, other) => one.line - other.line) };
}

function each<One extends z.ZodType>(value: unknown, schema: One, max: number): readonly z.output<One>[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, max).flatMap((one) => {
    const read = schema.safeParse(one);
    return read.success ? [read.data] : [];
  });
}

/** A time with a year of four digits, which every column accepts; undefined for anything else. */
function isoTime(text: string | undefined): string | undefined {
  if (text === undefined || !/^[1-9]\d{3}(?:-\d\d){0,2}(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(text))
    return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
