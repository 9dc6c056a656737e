/** API keys of a tenant, and tenants for the operator. Only the answer that creates a key contains its secret. */
import { z } from 'zod';
import { MAX_TENANT } from '../ids.ts';
import { SCOPES } from '../schema/api-key.ts';
import { labelSchema, nameSchema, timeSchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

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

const meSchema = z.object({
  tenant: nameSchema,
  key: z.object({ id: z.string(), name: z.string() }),
  user: z.string().nullable(),
  scopes: z.array(z.enum(SCOPES)).describe('All that it has; admin has the others'),
  version: z.string().describe('Of the server'),
  temporal_ui: z.string().nullable(),
});

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
    listApiKeys: list({
      scope: 'admin',
      summary: 'List the tenant’s API keys',
      command: {
        help: 'the keys there are; secrets are never shown',
        columns: {
          id: 'id',
          name: { flexible: 'name' },
          user: 'user',
          scopes: ({ scopes }) => scopes.join(' '),
          state: (key) =>
            key.revoked_at ? 'revoked' : key.expires_at ? `until ${key.expires_at}` : 'in force',
          made: { ago: 'created_at' },
        },
        nothing: 'No keys.',
      },
    }),
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
      command: {
        word: 'create',
        help: 'make a key; prints its secret once',
        arguments: ['name'],
        flags: {
          scopes: ['--scopes <scopes>', `${SCOPES.join(', ')}, with commas between them`, { required: true }],
          user: ['--user <user>', 'the key speaks and decides for this user only'],
          expires_at: ['--until <time>', 'when it ends: 2026-05-01T09:00:00+02:00'],
        },
        says: ({ id, secret }) => `${id}; its secret, shown this once: ${secret}`,
      },
    }),
    revokeApiKey: remove({
      scope: 'admin',
      summary: 'Revoke an API key',
      description: 'Other API processes may take it for 10 seconds more.',
      refuses: ['Conflict'],
      command: { word: 'revoke', help: 'revoke a key', says: (id) => `${id} is revoked` },
    }),
    getMe: operation({
      path: '/v1/me',
      method: 'GET',
      scope: 'read',
      summary: 'See who the caller is and what it may do',
      answer: meSchema,
      command: {
        word: 'me',
        help: 'the key in use: its tenant, user and scopes',
        fields: ({ key, scopes, ...rest }) => ({
          key: key.id,
          name: key.name,
          ...rest,
          scopes: scopes.join(' '),
        }),
      },
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
    isDefinition: true,
    missing: 'There is no tenant with this id',
  },
  ({ list, create }) => ({
    listTenants: list({
      scope: 'admin',
      summary: 'List tenants (operator)',
      command: {
        help: 'the tenants there are (operator)',
        columns: { tenant: 'id', name: { flexible: 'name' }, made: { ago: 'created_at' } },
        nothing: 'No tenants.',
      },
    }),
    createTenant: create({
      scope: 'admin',
      summary: 'Make a tenant and its first admin key (operator)',
      body: z
        .strictObject({ id: nameSchema.max(MAX_TENANT), name: labelSchema.optional() })
        .meta({ examples: [{ id: 'acme', name: 'Acme Ltd.' }] }),
      answer: tenantSchema.extend({ api_key: newKeySchema }),
      shownOnce: ['secret'],
      refuses: ['Conflict'],
      command: {
        word: 'create',
        help: 'make a tenant and its first admin key (operator); prints the secret once',
        arguments: ['id'],
        flags: { name: ['--name <text>', 'a name for people'] },
        says: ({ id, api_key: { secret } }) =>
          `${id}; the secret of its first key, shown this once: ${secret}`,
      },
    }),
  }),
);
