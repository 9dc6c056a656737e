/** What a prompt has of an agent's documents, read again when one of them has changed. */
import type { AgentConfig } from '#domain/agent.ts';
import type { DocumentScope } from '#domain/document.ts';
import type { StepBasis } from '#store/step-basis.ts';

/** Undefined: there is nothing. Asks nothing for an agent that never had a document. */
export type DocumentText<Options> = (
  tenant: string,
  agent: AgentConfig,
  basis: Pick<StepBasis, 'documents' | 'context'>,
  options: Options,
) => Promise<string | undefined>;

/** Scopes whose text a worker remembers. */
const MAX_SCOPES = 500;

/** `read` makes the text of a scope; nothing but the scope, the options and the documents goes into it. */
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
