/** Caches what a prompt contains of an agent's documents until one of them changes. */
import type { AgentConfig } from '#domain/agent.ts';
import type { DocumentScope } from '#domain/files/document.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';

/** Undefined when there is nothing. It makes no query for an agent that never had a document. */
export type DocumentText<Options> = (
  tenant: string,
  agent: AgentConfig,
  basis: Pick<StepBasis, 'documents' | 'context'>,
  options: Options,
) => Promise<string | undefined>;

/** Scopes whose text a worker keeps. */
const MAX_SCOPES = 500;

/** `read` returns the text of a scope; it depends only on the scope, the options and the documents. */
export function createDocumentCache<Options>(
  read: (scope: DocumentScope, options: Options) => Promise<string | undefined>,
): DocumentText<Options> {
  const known = new Map<string, { readonly version: string; readonly text: string | undefined }>();
  return async (tenant, { key: agent, type }, { documents, context }, options) => {
    if (documents === null) return undefined;
    const scope = { tenant, agent, user: context.user ?? null, type };
    const key = JSON.stringify([scope, options]);
    const last = known.get(key);
    if (last?.version === documents) return last.text;
    const text = await read(scope, options);
    known.delete(key);
    known.set(key, { version: documents, text });
    const [oldest] = known.keys();
    if (known.size > MAX_SCOPES && oldest !== undefined) known.delete(oldest);
    return text;
  };
}
