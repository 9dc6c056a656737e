/**
 * The policy for all agents of a tenant, between the settings and the agent (PO-1). Its commands do more at
 * the terminal: cli/commands/policy.ts.
 */
import { z } from 'zod';
import {
  policyChangeIdSchema,
  policyChangeSchema,
  shownTenantPolicySchema,
  tenantPolicySchema,
} from '../schema/policy.ts';
import { pageQuery, pageSchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

const path = '/v1/policy';

export const policy = defineResource(
  {
    path,
    tag: 'policy',
    item: shownTenantPolicySchema,
    key: 'id',
    isDefinition: true,
    missing: 'There is no change of the policy with this id',
  },
  () => ({
    getPolicy: operation({
      method: 'GET',
      path,
      scope: 'read',
      summary: "Get the tenant's policy",
      query: z.strictObject({}),
      answer: shownTenantPolicySchema,
      command: { word: 'show', isDefault: true, help: 'what holds for all agents of the tenant' },
    }),
    setPolicy: operation({
      method: 'PUT',
      path,
      scope: 'admin',
      summary: "Replace the tenant's policy",
      description: 'Holds for every call that is judged from now on, also in turns that run.',
      query: z.strictObject({
        change: z
          .string()
          .max(20)
          .optional()
          .describe('Only while this is its newest change: what others have changed since is not lost'),
      }),
      refuses: ['Conflict'],
      body: tenantPolicySchema,
      answer: shownTenantPolicySchema,
      command: {
        word: 'set',
        help: 'replace it by a file with tools and exec: YAML or JSON; - is a pipe',
        arguments: ['file'],
        file: 'a policy such as {"tools":{"deny":["exec"]}}',
      },
    }),
    listPolicyChanges: operation({
      method: 'GET',
      path: `${path}/history`,
      scope: 'admin',
      summary: "List changes of the tenant's policy",
      description: 'Who changed it when, and from what to what; newest first.',
      query: z.strictObject(pageQuery),
      answer: pageSchema(policyChangeSchema),
      command: {
        word: 'history',
        help: 'who changed it when, newest first',
        columns: {
          change: 'id',
          when: 'changed_at',
          by: 'changed_by',
          to: { flexible: (one) => JSON.stringify(one.to) },
        },
        nothing: 'Nobody has changed the policy.',
      },
    }),
    restorePolicy: operation({
      method: 'POST',
      path: `${path}/restore`,
      scope: 'admin',
      summary: "Put the tenant's policy back as it was before a change",
      description: 'What was changed after that is gone, too; this is a change of its own.',
      body: z.strictObject({ change: policyChangeIdSchema }).meta({ examples: [{ change: '12' }] }),
      answer: shownTenantPolicySchema,
      refuses: ['NotFound', 'Unprocessable'],
      command: { word: 'restore', help: 'put it back as it was before a change', arguments: ['change'] },
    }),
  }),
);
