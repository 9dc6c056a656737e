/** Calls the configured search engines, one after the other until one answers. */
import { SecretProblem } from '#domain/secret.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import { EgressError } from '@tempoclaw/egress';
import { operatorRules } from '#activities/egress/operator-rules.ts';
import { ReadingProblem } from '../pages/read-apart.ts';
import type { FoundPage } from '../pages/read-html.ts';
import { ENGINES, type EngineParts, SearchProblem, type SearchQuery } from './search-engines.ts';
import { SEARCH_ENGINES, type SearchEngineName } from './settings.ts';

export type SearchOutcome =
  | {
      readonly engine: SearchEngineName;
      readonly pages: readonly FoundPage[];
      /** The failures of the engines before it. */
      readonly problems: readonly string[];
    }
  /** No engine has answered. */
  | { readonly engine: undefined; readonly problems: readonly string[] };

export interface WebSearch {
  /** @throws the signal's reason, and errors that prevent reading a secret for now. */
  search(
    caller: Pick<RunningCall, 'tenant' | 'callId' | 'signal'>,
    query: SearchQuery,
  ): Promise<SearchOutcome>;
}

const LIMITS = { bytes: 2 * 1024 * 1024, totalMs: 15_000 };
/** Characters of a result. */
const TITLE = 300;
const SNIPPET = 1_000;
const ADDRESS = 2_000;

export function createWebSearch(
  parts: Pick<EngineParts, 'settings' | 'resolveSecret'> & {
    readonly egress: Egress;
    readonly egressSettings: EgressSettings;
  },
): WebSearch {
  const { settings, egress, egressSettings, resolveSecret } = parts;
  return {
    async search({ tenant, callId, signal }, query) {
      const failed: string[] = [];
      // These are only worth mentioning if no other engine answers, unless the operator has named them.
      const unset = settings.order ? failed : [];
      for (const name of settings.order ?? SEARCH_ENGINES) {
        const { place, needs, search } = ENGINES[name];
        const at = place(settings);
        if (at === undefined) {
          unset.push(`${name}: ${needs}`);
          continue;
        }
        const rules = operatorRules(at, egressSettings);
        const client = egress.open({
          labels: { tenant, purpose: 'web_search', callId },
          rules,
          limits: LIMITS,
        });
        try {
          const request = { settings, resolveSecret, signal, fetch: client.fetch };
          const pages = shown(await search(request, at.url, query), query.count);
          return { engine: name, pages, problems: failed };
        } catch (error) {
          if (signal.aborted) throw error;
          failed.push(`${name}: ${errorText(error)}`);
        } finally {
          await client.close();
        }
      }
      return { engine: undefined, problems: [...new Set([...failed, ...unset])] };
    },
  };
}

/** Omits the requested address, which may contain a key. Rethrows whatever is not the engine's. */
function errorText(error: unknown): string {
  if (error instanceof EgressError)
    return error.isRefused ? `it may not be asked (${error.rule})` : `it did not answer (${error.rule})`;
  // fetch throws this for an invalid request, for example a key with a line break.
  if (error instanceof TypeError) return 'it cannot be asked: look at its settings';
  if (error instanceof ReadingProblem) return 'its page cannot be read';
  if (error instanceof SearchProblem || error instanceof SecretProblem) return error.message;
  throw error;
}

function shown(pages: readonly FoundPage[], count: number): FoundPage[] {
  const line = (text: string, max: number): string => text.replace(/\s+/g, ' ').trim().slice(0, max);
  return pages
    .filter(({ url }) => url.length <= ADDRESS && URL.canParse(url) && /^https?:/i.test(url))
    .slice(0, count)
    .map(({ title, url, snippet }) => ({
      title: line(title, TITLE),
      url: new URL(url).href,
      snippet: line(snippet, SNIPPET),
    }));
}
