/** Vectors of texts as rows, by tenant, model and digest of the text (DE-2), and what asking for them has used. */
import { createHash } from 'node:crypto';
import type { ModelUse } from '#domain/model-use.ts';
import type { TurnPlace } from './message-store.ts';
import type { Pool } from './pool.ts';
import { execute, readRows } from './statements.ts';

type Vector = readonly number[];

export interface EmbeddingStore {
  /** By text; those that are not there are left out. */
  find(tenant: string, model: string, texts: readonly string[]): Promise<ReadonlyMap<string, Vector>>;
  /** Notes the use as the turn's, or the agent's. What is there already stays, so a repeat only notes its use again. */
  save(
    tenant: string,
    place: TurnPlace | { readonly agent: string },
    vectors: readonly (readonly [text: string, vector: Vector])[],
    use: ModelUse,
  ): Promise<void>;
}

/** Then it is asked anew: texts change, and what nobody looks for any more goes. */
const KEPT_DAYS = 90;

export function createEmbeddingStore(pool: Pool): EmbeddingStore {
  return {
    async find(tenant, model, texts) {
      const byDigest = new Map(texts.map((text) => [digestOf(text).toString('hex'), text]));
      const rows = await readRows<{ digest: Buffer; vector: Buffer }>(pool)`
        select digest, vector from embeddings where tenant_id = ${tenant} and model = ${model}
          and digest = any (${texts.map(digestOf)}::bytea[])`;
      return new Map(
        rows.flatMap(({ digest, vector }) => {
          const text = byDigest.get(digest.toString('hex'));
          return text === undefined ? [] : [[text, fromBytes(vector)] as const];
        }),
      );
    },

    async save(tenant, place, vectors, use) {
      const { session, turn } = 'agent' in place ? { session: '', turn: '' } : place;
      const noted = 'agent' in place ? { ...use, agent: place.agent } : use;
      const digests = vectors.map(([text]) => digestOf(text));
      const bytes = vectors.map(([, vector]) => toBytes(vector));
      await execute(pool)`
        with old as (delete from embeddings
          where tenant_id = ${tenant} and created_at < now() - make_interval(days => ${KEPT_DAYS})),
        new as (insert into embeddings (tenant_id, model, digest, vector)
          select ${tenant}, ${use.model}, v.digest, v.vector
          from unnest(${digests}::bytea[], ${bytes}::bytea[]) v (digest, vector) on conflict do nothing)
        select note_model_uses(${tenant}, ${session}, ${turn}, ${JSON.stringify([noted])})`;
    },
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function toBytes(vector: Vector): Buffer {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes;
}

function fromBytes(bytes: Buffer): Vector {
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
