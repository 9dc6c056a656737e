/** Forgetting a session or a user, and the receipts. */
import { z } from 'zod';
import { forgettingSchema, retentionSchema } from '../schema/forgetting.ts';
import { labelSchema, sessionKeySchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

const FORGETS =
  'What runs is stopped first. The answer is the receipt as it begins: it counts what has gone, and is `done` when all has. What comes later stays. Asked for again while it runs, it is the same receipt.';

export const forgettings = defineResource(
  {
    path: '/v1/forgettings',
    tag: 'forgetting',
    item: forgettingSchema,
    key: 'id',
    missing: 'There is no receipt with this id',
  },
  ({ list, show }) => ({
    listForgettings: list({
      scope: 'admin',
      summary: 'List what was forgotten, the newest first',
      command: {
        help: 'what was forgotten, the newest first',
        nothing: 'nothing was forgotten',
        columns: [
          { title: 'ID', cell: (row) => row.id },
          { title: 'WHAT', cell: (row) => `${row.kind} ${row.subject}`, flexible: true },
          { title: 'STATUS', cell: (row) => row.status },
          { title: 'REMOVED', cell: (row) => Object.values(row.removed).reduce((sum, n) => sum + n, 0) },
          { title: 'ASKED', cell: (row) => row.created_at, ago: true },
        ],
      },
    }),
    getForgetting: show({
      scope: 'admin',
      summary: 'Get a receipt',
      command: {
        help: 'one receipt: what went, by kind',
        fields: ({ removed, stays, ...row }) => ({ ...row, ...removed, stays: stays.join('; ') }),
      },
    }),
    forgetSession: operation({
      scope: 'admin',
      method: 'DELETE',
      path: '/v1/sessions/:session',
      params: z.object({ session: sessionKeySchema }),
      summary: 'Forget a session',
      description: `Its messages, calls, approvals, events and Temporal runs, and those of the sessions that worked for it. ${FORGETS}`,
      answer: forgettingSchema,
      status: 202,
      refuses: ['NotFound'],
    }),
    forgetUser: operation({
      scope: 'admin',
      method: 'DELETE',
      path: '/v1/users/:user',
      params: z.object({ user: labelSchema }),
      summary: 'Forget a user',
      description: `All sessions of the user, as they are forgotten one by one, and what is his own: documents, memory, keys, what was allowed always. ${FORGETS}`,
      answer: forgettingSchema,
      status: 202,
    }),
    getRetention: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/retention',
      summary: 'Get for how long the tenant keeps what',
      description:
        'Where it says nothing the settings do (`retention`), and where these say nothing it is kept.',
      answer: retentionSchema,
    }),
    setRetention: operation({
      scope: 'admin',
      method: 'PUT',
      path: '/v1/retention',
      summary: 'Say for how long the tenant keeps what',
      description: 'Replaces what it said. What is older goes within minutes, and does not come back.',
      body: retentionSchema,
      answer: retentionSchema,
    }),
  }),
);
