/** Settings of the search engines that web_search calls. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { secretHeaders } from '#config/secret-headers.ts';
import { webSearchSchema } from './search/settings.ts';
const schema = z.strictObject({ search: webSearchSchema.prefault({}) }).prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly web: z.output<typeof schema>;
  }
}

export const webSettings = defineSection({
  name: 'web',
  schema,
  variables: [
    [['BRAVE_API_KEY'], 'web.search.brave.apiKey', 'text'],
    [['BRAVE_BASE_URL'], 'web.search.brave.baseUrl', 'text'],
    [['SEARXNG_BASE_URL'], 'web.search.searxng.baseUrl', 'text'],
    [['DUCKDUCKGO_BASE_URL'], 'web.search.duckduckgo.baseUrl', 'text'],
  ],
  secrets: ({ search: { brave, json } }) => [brave.apiKey, ...secretHeaders(json?.headers ?? {})],
});
