/** Approvals: what waits for a person's decision, the decision, and the tokens with which Temporal clients decide. */
import { APPROVAL_STATUSES, APPROVAL_VERBS } from '../approval/approval.ts';
import { isMessageId } from '../ids.ts';
import {
  approvalDetailSchema,
  approvalFilterShape,
  approvalSchema,
  approvalTokenCreateSchema,
  approvalTokenSchema,
  bulkDecisionSchema,
  bulkReceiptSchema,
  decisionReceiptSchema,
  decisionSchema,
} from '../schema/approval.ts';
import { defineResource, operation } from './define-resource.ts';

export const approvals = defineResource(
  {
    path: '/v1/approvals',
    tag: 'approvals',
    item: approvalSchema,
    key: 'id',
    isKey: isMessageId,
    missing: 'There is no approval with this id',
  },
  ({ list, show, action }) => ({
    listApprovals: list({
      scope: 'read',
      summary: 'List approvals, newest first',
      description:
        'A key with a user sees what is its user’s or nobody’s, and what names it as an approver; other keys see the tenant’s.',
      query: approvalFilterShape,
      command: {
        help: 'what waits for a decision',
        flags: {
          status: [
            '--status <status>',
            'of all when all',
            { choices: [...APPROVAL_STATUSES, 'all'], default: 'pending' },
          ],
          session_key: ['--session <key>', 'of one session'],
          agent: ['--agent <key>', 'of one agent'],
          tool: ['--tool <name>', 'of one tool'],
          user: ['--user <id>', 'of one user’s turns'],
          requested_after: ['--since <time>', 'asked after this time (2026-01-31T12:00:00Z)'],
          requested_before: ['--before <time>', 'asked before this time'],
          mine: ['--mine', 'those that your key may decide'],
        },
      },
    }),
    getApproval: show({
      scope: 'read',
      summary: 'Get an approval with its decisions',
      answer: approvalDetailSchema,
      command: { help: 'one approval with the whole call' },
    }),
    decideApproval: action('decision')({
      scope: 'approve',
      repeatable: true,
      summary: 'Decide an approval',
      description:
        'The first valid decision wins; where the rule has a quorum, it is pending with a `tally` until enough people agree to the same arguments. Who decides is told by the key. The same decision again is 200 with `already`; another one, and a second edit or response, 409.',
      body: decisionSchema,
      answer: decisionReceiptSchema,
      refuses: ['AlreadyDecided', 'Conflict', 'ApprovalExpired', 'ApprovalWithdrawn', 'Unprocessable'],
      command: { by: 'approvals approve' },
    }),
    decideApprovals: operation({
      method: 'POST',
      path: '/v1/approvals/decisions',
      scope: 'approve',
      repeatable: true,
      summary: 'Decide up to 100 approvals',
      description:
        'Each has an outcome of its own: a receipt, or the error that a single decision would have got. The answer is 200 whatever they are.',
      body: bulkDecisionSchema,
      answer: bulkReceiptSchema,
      command: { by: 'approvals approve' },
    }),
  }),
  ({ action }) => ({
    createDecisionToken: action('token')({
      scope: 'approve',
      shownOnce: ['token'],
      summary: 'Make a token that decides an approval over Temporal',
      description:
        'For one update or signal of a Temporal client: the decision, the call and the person that it names. The first message with it uses it up. A key makes tokens for its own user; an admin’s for everybody.',
      body: approvalTokenCreateSchema,
      answer: approvalTokenSchema,
      refuses: ['Conflict', 'Unprocessable', 'IdempotencyInFlight', 'IdempotencyMismatch'],
      command: {
        word: 'token',
        help: 'make a token with which a Temporal client decides it',
        flags: {
          decision: ['--decision <decision>', 'what it is for', { choices: APPROVAL_VERBS, required: true }],
          by: ['--by <user>', 'who decides with it; your key’s user when it has one'],
        },
      },
    }),
  }),
);
