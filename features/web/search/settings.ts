/** Which search engines web_search calls, in the settings. */
import { z } from 'zod';
import { httpUrl, type Kept } from '#domain/schema/scalars.ts';

export const SEARCH_ENGINES = ['brave', 'searxng', 'json', 'duckduckgo'] as const;
export type SearchEngineName = (typeof SEARCH_ENGINES)[number];

const engine = z.strictObject({ baseUrl: httpUrl.exactOptional() });
const field = z.string().min(1).max(200);

/** Any other engine that answers in JSON. */
const jsonEngine = z.strictObject({
  /** `{query}` and `{count}` are replaced by the query's. */
  url: z
    .string()
    .max(4_096)
    .refine(
      (text) => text.includes('{query}') && httpUrl.safeParse(text.replaceAll(/[{}]/g, '')).success,
      'must be an http:// or https:// URL with {query} in it',
    ),
  /** Values may be `secret://NAME`. */
  headers: z.record(z.string().regex(/^[\w-]{1,100}$/), z.string().max(4_096)).default({}),
  /** Path of the list in the answer, as `data.items`; empty for the answer itself. */
  results: z.string().max(200).default('results'),
  /** Paths of these in each result. */
  fields: z
    .strictObject({
      title: field.default('title'),
      url: field.default('url'),
      snippet: field.default('snippet'),
    })
    .prefault({}),
});

export const webSearchSchema = z.strictObject({
  /** The next engine is called when one fails; without it, all that are configured. */
  order: z.array(z.enum(SEARCH_ENGINES)).min(1).max(4).exactOptional(),
  /** The key may be `secret://NAME`. */
  brave: engine.extend({ apiKey: z.string().min(1).max(4_096).exactOptional() }).prefault({}),
  searxng: engine.prefault({}),
  duckduckgo: engine.prefault({}),
  json: jsonEngine.exactOptional(),
});
export type WebSearchSettings = Kept<typeof webSearchSchema>;
