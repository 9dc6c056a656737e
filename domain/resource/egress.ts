/** Requests to the outside: one row for each exchange, including refused ones. */
import { z } from 'zod';
import { labelSchema, timeSchema } from '../schema/scalars.ts';
import { defineResource } from './define-resource.ts';

const egressRequestSchema = z.object({
  id: z.string(),
  purpose: z.string().describe('The tool’s name, or what else asked'),
  call_id: z.string().nullable(),
  method: z.string(),
  host: z.string().describe('With its port, of the last address'),
  status: z.int().nullable().describe('Null when no answer came'),
  bytes: z.int().describe('Of the body, decompressed, as far as it was read'),
  milliseconds: z.int(),
  problem: z.string().nullable().describe('Why it was refused or ended; null when it came whole'),
  created_at: timeSchema,
});

export const egress = defineResource(
  {
    path: '/v1/egress',
    tag: 'policy',
    item: egressRequestSchema,
    key: 'id',
    missing: 'There is no such request',
  },
  ({ list }) => ({
    listEgress: list({
      scope: 'read',
      summary: 'List what tools have asked of the outside, the newest first',
      description: 'Kept for 30 days. For keys that are bound to no user.',
      query: {
        call_id: labelSchema.optional(),
        host: labelSchema.optional(),
        purpose: labelSchema.optional(),
      },
      command: {
        help: 'what tools have asked of the outside, the newest first',
        flags: {
          call_id: ['--call <id>', 'of one tool call'],
          host: ['--host <host>', 'of one host'],
          purpose: ['--purpose <name>', 'of one tool'],
        },
        nothing: 'nothing was asked',
        columns: {
          when: { ago: 'created_at' },
          by: 'purpose',
          method: 'method',
          host: { flexible: 'host' },
          answer: (row) => row.problem ?? row.status,
          bytes: 'bytes',
          ms: 'milliseconds',
        },
      },
    }),
  }),
);
