/** Serves the knowledge graph from its rows; each correction is in the name of a user who may make it. */
import { startIndexing } from '#features/memory/index.ts';
import { fieldFailure } from '#domain/errors.ts';
import { knowledgeEntities, knowledgeRelations } from './resource.ts';
import {
  changeEntity,
  correctRelation,
  findEntity,
  findRelation,
  listEntities,
  listRelations,
  mergeEntities,
  splitEntity,
} from './store/knowledge-store.ts';
import type { KnowledgeEntity, KnowledgeRelation } from './store/knowledge-search.ts';
import { type Caller, requireScope } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { isNumberKeys, readPage } from '#api/server/pages.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export function addRoutes(app: Api, { pool, secrets, temporal }: ApiDeps): void {
  const entityOf = ({ tenant, confinedTo }: Caller, id: string) =>
    findEntity(forTenant(pool, tenant), id, confinedTo);
  const relationOf = ({ tenant, confinedTo }: Caller, id: string) =>
    findRelation(forTenant(pool, tenant), id, confinedTo);

  serveResource(
    app,
    knowledgeEntities,
    {
      listKnowledgeEntities: ({ db, caller, query }) =>
        readPage(
          query,
          (limit, after) =>
            listEntities(
              db,
              { ...query, viewer: caller.confinedTo },
              { limit, after: Number(after?.[0] ?? 0) },
            ),
          (row) => [Number(row.id)],
          isNumberKeys(1),
        ),
      getKnowledgeEntity: ({ caller, params: { id } }) => entityOf(caller, id),
      async changeKnowledgeEntity({ caller, tenant, by, params: { id }, body }) {
        const scope = await ownerOf(caller, entityOf(caller, id));
        const { text } = await secrets.vault.scrubberOf(tenant);
        const change = { ...body, name: body.name && text(body.name), aliases: body.aliases?.map(text) };
        if (!scope || !(await changeEntity(pool, scope, id, change, by))) return undefined;
        return entityOf(caller, id);
      },
      async mergeKnowledgeEntity({ caller, by, params: { id }, body: { into } }) {
        const scope = await ownerOf(caller, entityOf(caller, id));
        if (!scope) return undefined;
        if (id === into || !(await mergeEntities(pool, scope, id, into, by)))
          throw fieldFailure(
            'Unprocessable',
            'body/into',
            `${into} is no other entity of the same agent and user`,
          );
        return entityOf(caller, into);
      },
      async splitKnowledgeEntity({ caller, by, params: { id }, body: { entity } }) {
        const scope = await ownerOf(caller, entityOf(caller, id));
        if (!scope) return undefined;
        if (!(await splitEntity(pool, scope, id, entity, by)))
          throw fieldFailure('Unprocessable', 'body/entity', `${entity} was not merged into ${id}`);
        await startIndexing(temporal, scope);
        return entityOf(caller, entity);
      },
      async removeKnowledgeEntity({ caller, by, params: { id } }) {
        const scope = await ownerOf(caller, entityOf(caller, id));
        return scope !== undefined && changeEntity(pool, scope, id, { hidden: true }, by);
      },
    },
    entityOf,
  );

  serveResource(
    app,
    knowledgeRelations,
    {
      listKnowledgeRelations: ({ db, caller, query }) =>
        readPage(
          query,
          (limit, after) =>
            listRelations(
              db,
              { ...query, viewer: caller.confinedTo },
              { limit, after: Number(after?.[0] ?? 0) },
            ),
          (row) => [Number(row.id)],
          isNumberKeys(1),
        ),
      getKnowledgeRelation: ({ caller, params: { id } }) => relationOf(caller, id),
      async changeKnowledgeRelation({ caller, by, params: { id }, body }) {
        const scope = await ownerOf(caller, relationOf(caller, id));
        const text = scope && (await correctRelation(pool, scope, id, body, by));
        const row = text && (await relationOf(caller, text));
        return row || undefined;
      },
      async removeKnowledgeRelation({ caller, by, params: { id } }) {
        const scope = await ownerOf(caller, relationOf(caller, id));
        return (
          scope !== undefined && (await correctRelation(pool, scope, id, { hidden: true }, by)) !== undefined
        );
      },
    },
    relationOf,
  );
}

/** The owner, for callers that may change it; undefined if there is none. */
async function ownerOf(caller: Caller, row: Promise<KnowledgeEntity | KnowledgeRelation | undefined>) {
  const found = await row;
  if (!found) return undefined;
  if (found.user === null) requireScope(caller, 'admin');
  return { tenant: caller.tenant, agent: found.agent, user: found.user };
}
