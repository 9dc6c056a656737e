/**
 * The tables of the feature for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Generated, Json, Timestamp } from '#store/postgres/column-types.ts';
import type { NodeAbout } from '#features/nodes/contract/node.ts';

declare module '#store/tables.ts' {
  interface Tables {
    node_invocations: {
      tenant_id: string;
      id: string;
      node_id: string;
      session_key: string;
      capability: string;
      sealed: string;
      status: Generated<'waiting' | 'sent' | 'done' | 'unsent' | 'unknown'>;
      journal: string | null;
      result: string | null;
      expires_at: Timestamp;
      created_at: Generated<Timestamp>;
      sent_at: Timestamp | null;
      ended_at: Timestamp | null;
    };
    nodes: {
      tenant_id: string;
      id: string;
      name: string;
      allowed: string[] | null;
      code_id: string;
      code_hash: Buffer;
      code_tries: Generated<number>;
      code_expires_at: Timestamp;
      token_hash: Buffer | null;
      sealed: string | null;
      key_id: string | null;
      about: Json<NodeAbout> | null;
      connection: string | null;
      seen_at: Timestamp | null;
      created_by: string;
      created_at: Generated<Timestamp>;
    };
  }
}
