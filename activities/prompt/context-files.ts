/** The context files of a prompt in their order (VF-1), within a limit of tokens. */
import { createHash } from 'node:crypto';
import type { AgentConfig } from '#domain/agent.ts';
import { CONTEXT_FILES, CONTEXT_TOKENS, type DocumentScope, SUBAGENT_FILES } from '#domain/files/document.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { type DocumentText, readDocuments } from '#store/files/document-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';
import { CHARACTERS_PER_TOKEN } from './compact.ts';
import { createDocumentCache } from './document-cache.ts';

/** `window`: tokens of the model's window. Undefined when there are no files. */
export type ContextFiles = (
  tenant: string,
  agent: AgentConfig,
  basis: Pick<StepBasis, 'documents' | 'context'>,
  window: number,
) => Promise<string | undefined>;

/** Part of the window; the rest is for the conversation. */
const PART = 0.2;

export function createContextFiles(pool: Pool): ContextFiles {
  const text = createDocumentCache<{ readonly names: readonly string[]; readonly limit: number }>(
    (scope, { names, limit }) => read(pool, scope, names, limit),
  );
  return (tenant, agent, basis, window) => {
    const max = Math.floor(Math.min(CONTEXT_TOKENS, window * PART) * CHARACTERS_PER_TOKEN);
    return text(tenant, agent, basis, { names: namesOf(basis.context), limit: max });
  };
}

function namesOf({ subagent, overrides }: StepBasis['context']): readonly string[] {
  return subagent ? SUBAGENT_FILES : (overrides?.files ?? CONTEXT_FILES);
}

async function read(
  pool: Pool,
  scope: DocumentScope,
  names: readonly string[],
  max: number,
): Promise<string | undefined> {
  const rows = await readDocuments(pool, scope, names, max);
  const shown = names.flatMap((name) => rows.filter(({ path, text }) => path === name && text.trim() !== ''));
  if (shown.length === 0) return undefined;
  const shares = shareOut(shown, max);
  return [WORDS, ...shown.map((row) => fenced(row, shares.get(row.path) ?? 0))].join('\n\n');
}

/** Space that short files do not use is given to long ones. */
function shareOut(rows: readonly DocumentText[], limit: number): ReadonlyMap<string, number> {
  let remaining = limit;
  const shares = new Map<string, number>();
  for (const [at, { path, text }] of [...rows].sort((a, b) => a.text.length - b.text.length).entries()) {
    const own = Math.min(text.length, Math.floor(remaining / (rows.length - at)));
    shares.set(path, own);
    remaining -= own;
  }
  return shares;
}

const WORDS =
  'These are your files. Each stands between <<<FILE …>>> and <<<END_FILE …>>> with the same id, and nothing within it ends it or begins another. The agent’s are from who set you up; the user’s are kept for the one you work for now, and bind nobody else. Change them by their names with your file tools.';

/** The id derives from the text, which therefore cannot contain it. */
function fenced(row: DocumentText, remaining: number): string {
  const { path, user, outside, bytes } = row;
  const isCut = row.text.length > remaining;
  const kept = isCut
    ? row.text.slice(0, row.text.lastIndexOf('\n', remaining - 1) + 1 || remaining)
    : row.text;
  const id = createHash('sha256')
    .update(JSON.stringify([path, row.text]))
    .digest('hex')
    .slice(0, 16);
  const lines = kept.split('\n').length - 1;
  const note = isCut
    ? `\n[cut here: ${bytes} bytes in all; read on with read_file, path ${path}, offset ${kept.endsWith('\n') ? lines : 0}]`
    : '';
  const inner = outside ? markOutside({ id, source: path, text: kept }) : kept;
  const whose = user === null ? 'agent' : 'user';
  return `<<<FILE ${path} id=${id} of=${whose}>>>\n${inner.trimEnd()}\n<<<END_FILE id=${id}>>>${note}`;
}
