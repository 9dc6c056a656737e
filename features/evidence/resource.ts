/** DU-11: the state of a tenant's chain. */
import { z } from 'zod';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { timeSchema } from '#domain/schema/scalars.ts';

const count = z.int().min(0);

const evidenceSchema = z.object({
  entries: count.describe('The number of the newest entry'),
  waiting: count.describe('Rows that are final and not yet in the chain'),
  head: z
    .object({ seq: count, hash: z.string(), at: timeSchema, signature: z.string() })
    .nullable()
    .describe('The signed end of the chain; null before its first entry'),
  public_key: z.string().nullable().describe('Ed25519 as SPKI, DER, in base64: keep a copy elsewhere'),
  anchors: z.array(
    z.object({
      name: z.string(),
      seq: count.describe('The newest entry that it has'),
      anchored_at: timeSchema.nullable(),
      failures: count.describe('Since the last success'),
      problem: z.string().nullable(),
    }),
  ),
});

export const evidenceChain = defineResource(
  { path: '/v1/evidence', tag: 'policy', item: evidenceSchema, key: 'tenant', missing: 'There is no chain' },
  () => ({
    getEvidence: operation({
      method: 'GET',
      path: '/v1/evidence',
      scope: 'admin',
      summary: 'Get the end of the chain of evidence',
      description:
        'The chain covers tool calls, approvals with their decisions, changes of the policy and revisions of agents.',
      answer: evidenceSchema,
      command: {
        word: 'show',
        help: 'the end of the chain, its public key and its anchors',
        isDefault: true,
        fields: ({ anchors, head, ...rest }) => ({
          ...rest,
          at: head?.at ?? null,
          hash: head?.hash ?? null,
          anchors: anchors
            .map(({ name, seq, problem }) => `${name}: ${seq}${problem === null ? '' : ` (${problem})`}`)
            .join(', '),
        }),
      },
    }),
  }),
);
