/**
 * The tables of the feature for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Generated, Json, Timestamp } from '#store/postgres/column-types.ts';

declare module '#store/tables.ts' {
  interface Tables {
    handoff_routes: {
      tenant_id: string;
      channel: string;
      chat_id: string;
      from_key: string;
      to_key: string;
      session_key: string;
      reason: string;
      path: Json<unknown>;
      created_by: string;
      created_at: Generated<Timestamp>;
    };
  }
}
