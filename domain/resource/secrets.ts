/** Secrets of a tenant: set, listed by name, removed. The API never returns their values. */
import { z } from 'zod';
import { nameSchema, textSchema, timeSchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

/** A shorter value cannot be distinguished from other text, so it could not be hidden. */
export const MIN_SECRET = 6;
/** Enough for a key file; UTF-16 units. */
export const MAX_SECRET = 65_536;

const putSchema = z.strictObject({
  value: textSchema(MAX_SECRET)
    .refine(
      (value) => value.length >= MIN_SECRET,
      `must have at least ${MIN_SECRET} characters: a shorter value could not be hidden`,
    )
    .meta({ format: 'password' }),
});

export const secretSchema = z.object({
  name: nameSchema,
  updated_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

const rotationSchema = z.object({
  key_id: z.string().describe('The key that all rows are sealed with now'),
  resealed: z.int().describe('Rows that were sealed with another key'),
});

export const secrets = defineResource(
  {
    path: '/v1/secrets',
    tag: 'secrets',
    item: secretSchema,
    key: 'name',
    missing: 'There is no secret with this name',
  },
  ({ list, put, remove }) => ({
    listSecrets: list({
      scope: 'admin',
      summary: 'List the names of secrets',
      command: {
        help: 'their names; values are never shown',
        columns: { secret: 'name', 'set by': { flexible: 'updated_by' }, set: { ago: 'updated_at' } },
        nothing: 'No secrets.',
      },
    }),
    setSecret: {
      ...put({
        scope: 'admin',
        summary: 'Set a secret',
        description:
          'Settings refer to it as `secret://NAME`. The value is sealed, hidden wherever it would be shown, and given back by no route.',
        body: putSchema,
        refuses: ['Unprocessable'],
        command: {
          word: 'set',
          help: 'set one; its value is read from a pipe or asked for, and never taken from arguments',
          says: (_secret, { name }) => `secret ${name} is set; refer to it as secret://${name}`,
        },
      }),
      // An invalid name is an error here; deleting a secret treats it as not found.
      params: z.object({ name: nameSchema }),
    },
    deleteSecret: remove({
      scope: 'admin',
      summary: 'Delete a secret',
      command: { word: 'delete', help: 'delete one', says: (name) => `secret ${name} is deleted` },
    }),
    rotateSecrets: operation({
      method: 'POST',
      path: '/v1/secrets/rotate',
      scope: 'admin',
      summary: 'Seal all secrets with the newest master key (operator)',
      description:
        'After `encryption.key` was changed and the old one put into `encryption.previousKeys`. Once it is done, the old key is needed for calls that were open then only.',
      answer: rotationSchema,
      command: {
        word: 'rotate',
        help: 'seal all of them with the newest master key (operator)',
        says: (done) =>
          `all secrets are sealed with the key ${done.key_id}; ${done.resealed} were not before`,
      },
    }),
  }),
);
