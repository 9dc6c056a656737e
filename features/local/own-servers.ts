/** What the servers of an installation have of their own. */
import { DATABASE_FOLDER_OF_ROOT } from '#config';
import { originProblem } from '#domain/net/judge-origin.ts';
import { SEARCH_ATTRIBUTES } from '#domain/search-attributes.ts';
import type { RefuseUi } from '@tempoclaw/dev-services';

export const OWN_POSTGRES = {
  name: 'tempoclaw',
  rootDir: DATABASE_FOLDER_OF_ROOT,
  urlSetting: 'DATABASE_URL',
} as const;

export const OWN_TEMPORAL = { searchAttributes: SEARCH_ATTRIBUTES } as const;

/** Guards the web UI as the API is guarded. `hosts` are names by which it is called, besides localhost and addresses. */
export function refuseUi(hosts: ReadonlySet<string>): RefuseUi {
  const allowed = { hosts, origins: new Set<string>() };
  return (request) => {
    const problem = originProblem(allowed, request);
    return problem && REFUSALS[problem.kind](problem.name);
  };
}

const REFUSALS = {
  host: (name: string) => ({
    status: 421,
    text: `This is not known by the name ${name}; add it to api.allowedHosts.`,
  }),
  origin: (name: string) => ({ status: 403, text: `Pages of ${name} may change nothing here.` }),
};
