/** DU-8: exports an agent as a file, without secrets. */
import { listSkills, readSkillFiles } from '#features/skills/index.ts';
import { createHash } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import { EXPORT_BYTES, type ExportLine } from './schema.ts';
import { findAgent } from '#store/agent-store.ts';
import { listOwnDocuments, readDocumentVersion } from '#store/files/document-store.ts';
import { type Scrubber, withoutSecrets } from '#store/secrets/scrubber.ts';
import type { ApiDeps } from '#api/deps.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

type Deps = Pick<ApiDeps, 'pool' | 'secrets'>;

/**
 * Includes the documents of these users besides the agent's own. Returns undefined if there is no such agent. @throws
 * Failure TooLarge
 */
export async function exportAgent(
  deps: Deps,
  tenant: string,
  key: string,
  users: readonly string[],
): Promise<Buffer | undefined> {
  const agent = await findAgent(forTenant(deps.pool, tenant), key);
  if (!agent) return undefined;
  const scrubber = await deps.secrets.vault.scrubberOf(tenant);
  const parts: Buffer[] = [];
  const digest = createHash('sha256');
  let bytes = 0;
  const add = (line: ExportLine): void => {
    const part = Buffer.from(`${JSON.stringify(line)}\n`);
    digest.update(part);
    parts.push(part);
    bytes += part.length;
    if (bytes > EXPORT_BYTES)
      throw new Failure(
        'TooLarge',
        `An export has at most ${EXPORT_BYTES} bytes; ask for fewer users at once`,
      );
  };
  const config = JSON.parse(JSON.stringify(agent.config), (_, value: unknown) =>
    typeof value === 'string' ? scrubber.text(value) : value,
  );
  add({ kind: 'agent', version: 1, agent: config });
  for (const user of [null, ...new Set(users)])
    for await (const line of documentLines(deps, scrubber, { tenant, agent: key, user })) add(line);
  for await (const line of skillLines(deps, scrubber, tenant, key)) add(line);
  add({ kind: 'end', sha256: digest.copy().digest('hex') });
  return Buffer.concat(parts);
}

async function* documentLines(
  { pool }: Deps,
  scrubber: Scrubber,
  scope: { readonly tenant: string; readonly agent: string; readonly user: string | null },
): AsyncGenerator<ExportLine> {
  for (const { path, revision } of await listOwnDocuments(pool, scope)) {
    const version = await readDocumentVersion(pool, scope, path, revision);
    // A document that was removed in the meantime has no text.
    if (typeof version?.text !== 'string') continue;
    const { text, outside } = version;
    yield { kind: 'document', user: scope.user, path, outside, text: scrubber.text(text) };
  }
}

/** Skills that the agent owns, and those that are granted to it. */
async function* skillLines(
  { pool }: Deps,
  scrubber: Scrubber,
  tenant: string,
  agent: string,
): AsyncGenerator<ExportLine> {
  const db = forTenant(pool, tenant);
  for (const { name, version, visibility, agreed, owner, grants } of await listSkills(db)) {
    const owned = owner === `agent:${agent}`;
    if (!owned && !grants.some(({ kind, subject }) => kind === 'agent' && subject === agent)) continue;
    const files = (await readSkillFiles(db, name, version)).map(({ path, bytes }) => ({
      path,
      content: withoutSecrets(scrubber, bytes).toString('base64'),
    }));
    yield { kind: 'skill', name, visibility, owned, agreed, files };
  }
}
