/**
 * The policy for all agents of a tenant, between the settings and the agent (PO-1), and trying other rules (PO-4).
 * Commands: cli/commands/policy.ts.
 */
import { z } from 'zod';
import {
  backtestReportSchema,
  backtestSchema,
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
    }),
    setPolicy: operation({
      method: 'PUT',
      path,
      scope: 'admin',
      summary: "Replace the tenant's policy",
      description: 'Holds for every call that is judged from now on, also in turns that run.',
      body: tenantPolicySchema,
      answer: shownTenantPolicySchema,
    }),
    listPolicyChanges: operation({
      method: 'GET',
      path: `${path}/history`,
      scope: 'admin',
      summary: "List changes of the tenant's policy",
      description: 'Who changed it when, and from what to what; newest first.',
      query: z.strictObject(pageQuery),
      answer: pageSchema(policyChangeSchema),
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
    }),
    backtestPolicy: operation({
      method: 'POST',
      path: `${path}/backtest`,
      scope: 'admin',
      repeatable: true,
      summary: 'Try rules on the calls of the last days',
      description:
        'How many would be allowed, asked about and denied, and which would not be judged as they were. Nothing is run. The newest 20,000 calls are looked at.',
      body: backtestSchema,
      answer: backtestReportSchema,
    }),
  }),
);
