/**
 * The tables of the feature for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Generated, Int8, Json, Timestamp } from '#store/postgres/column-types.ts';

declare module '#store/tables.ts' {
  interface Tables {
    webhook_deliveries: {
      tenant_id: string;
      id: string;
      webhook_id: string;
      session_key: string;
      event_id: Int8;
      event: string;
      status: Generated<'pending' | 'delivered' | 'failed'>;
      attempts: Generated<number>;
      waits: Generated<number>;
      redelivered: Generated<number>;
      next_at: Generated<Timestamp>;
      claimed_until: Timestamp | null;
      fence: Generated<number>;
      held_back: Generated<boolean>;
      pending_since: Generated<Timestamp>;
      last_status: number | null;
      problem: string | null;
      post: Json<unknown> | null;
      created_at: Generated<Timestamp>;
      ended_at: Timestamp | null;
    };
    webhooks: {
      tenant_id: string;
      id: string;
      channel_key: string | null;
      approval_agents: Generated<string[]>;
      url: string;
      events: string[];
      agent_key: string | null;
      session_key: string | null;
      user_id: string | null;
      description: string | null;
      ordered: boolean;
      sealed: string;
      key_id: string;
      enabled: Generated<boolean>;
      disabled_reason: string | null;
      failing_since: Timestamp | null;
      failures: Generated<number>;
      pace: Generated<number>;
      retry_at: Generated<Timestamp>;
      created_by: string;
      created_at: Generated<Timestamp>;
    };
  }
}
