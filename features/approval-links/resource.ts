/** Links that decide an approval: they are made and revoked. */
import { z } from 'zod';
import { isMessageId } from '#domain/ids.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { approvalLinkCreateSchema, approvalLinkSchema } from './schema.ts';

export const approvalLinks = defineResource(
  {
    path: '/v1/approvals',
    tag: 'approvals',
    item: approvalLinkSchema,
    key: 'id',
    isKey: isMessageId,
    missing: 'There is no approval with this id',
  },
  ({ action }) => ({
    createApprovalLink: action('links')({
      scope: 'approve',
      status: 201,
      shownOnce: ['url'],
      summary: 'Make a link that decides an approval',
      description:
        'Works once, for one person, until the approval ends. A key makes links for its own user; an admin’s for everybody. Opening it decides nothing.',
      body: approvalLinkCreateSchema,
      answer: approvalLinkSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'link',
        help: 'make a link with which one person decides one approval, once',
        flags: {
          for: ['--for <user>', 'who decides by it', { required: true }],
          decision: ['--only <decision>', 'approve or reject, and not the other'],
          expires_seconds: ['--expires <seconds>', 'when it ends; with the approval at the latest'],
        },
      },
    }),
    revokeApprovalLink: operation({
      method: 'DELETE',
      path: '/v1/approvals/:id/links/:link',
      scope: 'approve',
      summary: 'Revoke a link',
      params: z.object({ id: z.string(), link: z.string().max(64) }),
      findsFirst: true,
      answer: z.null(),
      status: 204,
      command: {
        word: 'unlink',
        help: 'revoke a link that was made for an approval',
        answer: ({ id, link }) => ({ id, link, deleted: true }),
        says: (_answer, { link }) => `the link ${link} decides nothing any more`,
      },
    }),
  }),
);
