/** Rules that people's decisions suggest (AP-7). Each request computes them; there are no rows. */
import { z } from 'zod';
import { isMessageId } from '#domain/ids.ts';
import { ruleProposalSchema } from '../schema/backtest.ts';
import { defineResource } from '#domain/resource/define-resource.ts';

export const ruleProposals = defineResource(
  {
    path: '/v1/policy/proposals',
    tag: 'policy',
    item: ruleProposalSchema,
    key: 'id',
    isKey: isMessageId,
    isDefinition: true,
    missing: 'This is not proposed, or no longer: decisions and rules since then have changed it',
  },
  ({ listAll, show, action }) => ({
    listRuleProposals: listAll({
      scope: 'admin',
      summary: 'List rules that the decisions of the last 30 days suggest',
      description:
        'Each would allow calls of a kind that was approved at least three times and that nobody ever rejected. Where a rule names approvers, a quorum or excludes the requester, nothing is proposed.',
      command: {
        help: 'rules that decisions suggest',
        columns: {
          id: 'id',
          agent: 'agent',
          in: 'place',
          approved: 'approvals',
          allows: { flexible: ({ adds }) => proposalWords(adds) },
        },
        nothing: 'The decisions of the last 30 days suggest no rule.',
      },
    }),
    getRuleProposal: show({
      scope: 'admin',
      summary: 'Get a proposed rule, with what a backtest says of it',
      command: {
        help: 'one of them, and what it would change of the calls of the last 30 days',
        fields: ({ adds, backtest, examples, ...row }) => ({
          ...row,
          allows: proposalWords(adds),
          examples: examples.join('; '),
          ...(backtest && {
            'asked, of calls': `${backtest.before.ask}, of ${backtest.calls}`,
            'asked with it': backtest.after.ask,
            'judged otherwise': backtest.differ,
          }),
        }),
      },
    }),
    takeRuleProposal: action('take')({
      scope: 'admin',
      summary: 'Add a proposed rule to the rules of its agent or tenant',
      description:
        'As a change of them that is kept like any other. What waits for a decision goes on waiting.',
      body: z.strictObject({}),
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'take',
        help: 'add it to the rules of its agent or tenant',
        says: ({ adds, agent, place }) =>
          `added to the ${place}’s rules for ${agent}: ${proposalWords(adds)}`,
      },
    }),
  }),
);

export function proposalWords(adds: z.output<typeof ruleProposalSchema>['adds']): string {
  if ('allowlist' in adds) return adds.allowlist;
  const { tool, args, only_args } = adds.rule;
  const free = only_args.filter((name) => !Object.hasOwn(args, name));
  const messages = Object.entries(args).map(([name, glob]) => `${name} ${glob}`);
  return `${tool} with ${[...messages, ...free.map((name) => `any ${name}`)].join(', ')}`;
}
