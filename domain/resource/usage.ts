/** Uses of models and their costs, summed as the caller requests (DU-7). */
import { USAGE_KEYS, usageQuerySchema, usageSchema } from '../schema/budget.ts';
import { defineResource, operation } from './define-resource.ts';

export const MAX_DAYS = 366;

export const usage = defineResource(
  { path: '/v1/usage', tag: 'budgets', item: usageSchema, key: 'id', missing: 'There is no such use' },
  () => ({
    getUsage: operation({
      method: 'GET',
      path: '/v1/usage',
      scope: 'read',
      summary: 'Sum up what models were used, by agent, user, session, model and day',
      description: `At most ${MAX_DAYS} days, in UTC. Costs are those known when the answers were recorded.`,
      query: usageQuerySchema,
      answer: usageSchema,
      command: {
        help: 'what models were used and what they cost',
        flags: {
          by: ['--by <keys>', `${USAGE_KEYS.join(', ')}, joined by commas`, { default: 'day' }],
          from: ['--from <date>', 'first day, UTC (30 days ago)'],
          to: ['--to <date>', 'last day, UTC (today)'],
          agent: ['--agent <key>', 'of this agent'],
          user: ['--user <user>', 'of this user'],
          session: ['--session <key>', 'of this session'],
          model: ['--model <model>', 'of this model'],
        },
      },
    }),
  }),
);
