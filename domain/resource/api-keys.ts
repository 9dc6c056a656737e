/** API keys of a tenant, and tenants for the operator. Only the answer that creates a key contains its secret. */
import { z } from 'zod';
import { SCOPES } from '../schema/api-key.ts';
import { labelSchema, nameSchema, timeSchema } from '../schema/scalars.ts';
import { defineResource } from './define-resource.ts';

const keySchema = z.object({
  id: z.string(),
  name: z.string(),
  user: z.string().nullable(),
  scopes: z.array(z.enum(SCOPES)),
  created_at: timeSchema,
  expires_at: timeSchema.nullable(),
  revoked_at: timeSchema.nullable(),
});

/** `secret` is null in a repeated answer (Idempotency-Key), because it is not stored. */
const newKeySchema = keySchema.extend({ secret: z.string().nullable() });

export const apiKeys = defineResource(
  {
    path: '/v1/api-keys',
    tag: 'keys',
    item: keySchema,
    key: 'id',
    isKey: (value) => /^\w{1,64}$/.test(value),
    isDefinition: true,
    missing: 'There is no API key with this id',
  },
  ({ list, create, remove }) => ({
    listApiKeys: list({ scope: 'admin', summary: 'List the tenant’s API keys' }),
    createApiKey: create({
      scope: 'admin',
      summary: 'Make an API key',
      description: 'The secret is in this answer and nowhere else: only its hash is kept.',
      body: z
        .strictObject({
          name: labelSchema,
          scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length),
          user: labelSchema.optional().describe('The key speaks and decides for this user only'),
          expires_at: z.iso.datetime({ offset: true }).optional(),
        })
        .meta({ examples: [{ name: 'ci', scopes: ['read', 'run'] }] }),
      answer: newKeySchema,
      shownOnce: ['secret'],
      refuses: ['Unprocessable'],
    }),
    revokeApiKey: remove({
      scope: 'admin',
      summary: 'Revoke an API key',
      description: 'Other API processes may take it for 10 seconds more.',
      refuses: ['Conflict'],
    }),
  }),
);

const tenantSchema = z.object({ id: nameSchema, name: z.string(), created_at: timeSchema });

export const tenants = defineResource(
  {
    path: '/v1/tenants',
    tag: 'keys',
    item: tenantSchema,
    key: 'id',
    missing: 'There is no tenant with this id',
  },
  ({ list, create }) => ({
    listTenants: list({ scope: 'admin', summary: 'List tenants (operator)' }),
    createTenant: create({
      scope: 'admin',
      summary: 'Make a tenant and its first admin key (operator)',
      body: z
        .strictObject({ id: nameSchema, name: labelSchema.optional() })
        .meta({ examples: [{ id: 'acme', name: 'Acme Ltd.' }] }),
      answer: tenantSchema.extend({ api_key: newKeySchema }),
      shownOnce: ['secret'],
      refuses: ['Conflict'],
    }),
  }),
);
