/** Forgetting a session or a user, and the receipts. */
import { z } from 'zod';
import { forgettingSchema, retentionSchema } from '../schema/forgetting.ts';
import { labelSchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

const FORGETS =
  'What runs is stopped first. The answer is the receipt as it begins: it counts what has gone, and is `done` when all has. What comes later stays. Asked for again while it runs, it is the same receipt.';

const saysForgotten = ({ id }: { readonly id: string }): string =>
  `it is being forgotten; what has gone: npx tempoclaw forget show ${id}`;

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
        columns: {
          id: 'id',
          what: { flexible: (row) => `${row.kind} ${row.subject}` },
          status: 'status',
          removed: (row) => Object.values(row.removed).reduce((sum, n) => sum + n, 0),
          asked: { ago: 'created_at' },
        },
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
      params: z.object({ session: z.string() }),
      summary: 'Forget a session',
      description: `Its messages, calls, approvals, events and Temporal runs, and those of the sessions that worked for it. ${FORGETS}`,
      answer: forgettingSchema,
      status: 202,
      refuses: ['NotFound'],
      command: {
        word: 'session',
        help: 'what was said and done in a session, and in those that worked for it: rows, files and Temporal runs',
        says: saysForgotten,
      },
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
      command: {
        word: 'user',
        help: 'all sessions of a user, and what is his own: rows, files and Temporal runs',
        says: saysForgotten,
      },
    }),
    getRetention: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/retention',
      summary: 'Get for how long the tenant keeps what',
      description:
        'Where it says nothing the settings do (`retention`), and where these say nothing it is kept.',
      answer: retentionSchema,
      command: { word: 'retention', help: 'for how long what is kept, as the tenant says' },
    }),
    setRetention: operation({
      scope: 'admin',
      method: 'PUT',
      path: '/v1/retention',
      summary: 'Say for how long the tenant keeps what',
      description: 'Replaces what it said. What is older goes within minutes, and does not come back.',
      body: retentionSchema,
      answer: retentionSchema,
      command: {
        word: 'retain',
        help: 'say for how long what is kept, in a file: YAML or JSON; - is a pipe',
        arguments: ['file'],
        file: 'days such as {"events_days":30}',
        says: () => 'what is older goes within minutes',
      },
    }),
  }),
);
