/**
 * The tables of the feature for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Generated, Json, Timestamp } from '#store/postgres/column-types.ts';
import type { ChannelPlace } from '#features/channels/contract.ts';
import type { ChannelSettings } from '#features/channels/schema.ts';

declare module '#store/tables.ts' {
  interface Tables {
    channel_pairings: {
      tenant_id: string;
      channel_key: string;
      person_id: string;
      name: string;
      code: string;
      created_at: Generated<Timestamp>;
      notified_at: Generated<Timestamp>;
    };
    channel_people: {
      tenant_id: string;
      channel_key: string;
      person_id: string;
      name: string;
      user_id: string;
      may_decide: boolean;
      created_by: string;
      created_at: Generated<Timestamp>;
    };
    channel_posts: {
      tenant_id: string;
      delivery_id: string;
      part: number;
      channel_key: string;
      message_id: string;
      place: Json<ChannelPlace>;
      approval_id: string | null;
      digest: string | null;
      created_at: Generated<Timestamp>;
    };
    channels: {
      tenant_id: string;
      key: string;
      webhook_id: string;
      type: 'telegram' | 'slack' | 'discord' | 'web' | 'webhook';
      agent_key: string;
      settings: Json<ChannelSettings>;
      updated_at: Generated<Timestamp>;
    };
  }
}
