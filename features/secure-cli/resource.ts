/** Programs with credentials (SH-4): requests and answers contain rules, and only requests contain credentials. */
import { z } from 'zod';
import { isRecord } from '#domain/outside-value.ts';
import { labelSchema, nameSchema, textSchema, timeSchema } from '#domain/schema/scalars.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { MAX_SECRET, MIN_SECRET } from '#domain/resource/secrets.ts';

/**
 * `sensitive` is hidden everywhere. `file` is as sensitive, but the program gets the path of a file with the value,
 * which is removed after the call. `value` may be shown.
 */
export const CLI_ENV_KINDS = ['sensitive', 'value', 'file'] as const;
export type CliEnvKind = (typeof CLI_ENV_KINDS)[number];

/** A program's name without a folder. */
const nameOfBinary = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$/, 'must be a program’s name without its folder');

/** Variables that would change which program runs, instead of its data. */
const TAKEN = /^(?:PATH|HOME|PWD|TMPDIR|BASH_ENV|ENV|IFS|LD_.*|DYLD_.*|TEMPOCLAW_.*)$/;

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be a variable’s name')
  .refine((name) => !TAKEN.test(name), 'this variable is set by TempoClaw or would change what is run');

const variableSchema = z
  .strictObject({
    name: variableName,
    kind: z.enum(CLI_ENV_KINDS).optional().describe('As the preset says, else `sensitive`'),
    value: textSchema(MAX_SECRET).describe('May refer to secrets: `secret://NAME`'),
  })
  .refine(
    ({ kind, value }) => kind === 'value' || value.length >= MIN_SECRET,
    `a value that shall be hidden must have at least ${MIN_SECRET} characters`,
  );

const patterns = z.array(textSchema(500)).max(50);

export const keywordRuleSchema = z.strictObject({
  subcommands: z.array(labelSchema).min(1).max(50),
  args: z.array(labelSchema).min(1).max(50),
  keywords: z.array(labelSchema).min(1).max(50),
});

const fields = {
  path: z
    .string()
    .max(4096)
    .regex(/^\/[^\0]+$/, 'must be an absolute path')
    .optional()
    .describe('Where the program is; looked for in the worker’s PATH when absent'),
  agents: z
    .array(z.union([z.literal('*'), nameSchema]))
    .max(500)
    .describe('Agents that may use it; `*` is every agent'),
  user_env: z
    .array(variableName)
    .max(20)
    .describe('Variables that each user gives: the program runs with those of the turn’s user alone'),
  host: z
    .boolean()
    .describe(
      'Also for agents whose sandbox is `required`, although it runs on the worker’s machine; else they are refused',
    ),
  deny_args: patterns.describe('RE2 patterns over the arguments, joined by spaces'),
  deny_verbose: patterns.describe(
    'RE2 patterns over the beginning of each argument, with and without the next one',
  ),
  keyword_allowlist: z.array(keywordRuleSchema).max(50),
  timeout_seconds: z.int().min(1).max(600),
  tips: z.string().max(2_000).describe('For the model'),
};

/** Converts GoClaw's map of variables to our form. */
function withListedEnv(text: unknown): unknown {
  if (!isRecord(text) || !isRecord(text['encrypted_env']) || Object.hasOwn(text, 'env')) return text;
  const { encrypted_env: values, ...rest } = text;
  return { ...rest, env: Object.entries(values).map(([name, value]) => ({ name, value })) };
}

const putSchema = z
  .strictObject({
    preset: nameSchema.optional().describe('Whose rules hold where none are given'),
    binary_name: nameOfBinary.optional().describe('As in the address, where another system wrote it'),
    env: z.array(variableSchema).max(50).optional().describe('When absent, that of before stays'),
    ...z.object(fields).partial().shape,
  })
  .meta({
    examples: [{ preset: 'gh', agents: ['main'], env: [{ name: 'GH_TOKEN', value: 'secret://github' }] }],
  });

/** What is stored and shown has only our names. */
export const secureCliPutSchema = z.preprocess(withListedEnv, putSchema);

export const secureCliSchema = z.object({
  name: nameOfBinary,
  ...fields,
  env: z.array(z.object({ name: z.string(), kind: z.enum(CLI_ENV_KINDS) })),
  updated_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

export const secureClis = defineResource(
  {
    path: '/v1/secure-clis',
    tag: 'secrets',
    item: secureCliSchema,
    key: 'name',
    isDefinition: { except: ['env'] },
    keySchema: nameOfBinary,
    missing: 'There is no program with credentials of this name',
  },
  ({ listAll, show, put, remove }) => ({
    listSecureClis: listAll({
      scope: 'admin',
      summary: 'List programs with credentials',
      command: {
        help: 'the programs there are',
        columns: {
          program: 'name',
          agents: { flexible: (cli) => cli.agents.join(', ') || 'none' },
          variables: { flexible: (cli) => cli.env.map(({ name }) => name).join(', ') },
        },
        nothing: 'No program has credentials.',
      },
    }),
    getSecureCli: show({
      scope: 'admin',
      summary: 'Get a program with credentials',
      command: { help: 'one program and its rules' },
    }),
    setSecureCli: put({
      scope: 'admin',
      summary: 'Give a program credentials, or change its rules',
      description:
        'It can then be run by `credentialed_exec` alone, by the agents named. What is absent stays as it was, or comes from the preset.',
      body: secureCliPutSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'set',
        help: 'give a program credentials, or change its rules; what is not given stays',
        flags: {
          preset: ['--preset <name>', 'rules for gh, gcloud, aws, kubectl or terraform'],
          agents: ['--agent <key...>', 'agents that may use it; * is every agent'],
          variables: [
            '--env <name=secret...>',
            'a variable and the secret it gets, such as GH_TOKEN=secret://github',
          ],
          user_env: ['--user-env <name...>', 'variables that each user gives for themselves'],
          path: ['--path <path>', 'where the program is, when PATH does not say'],
          host: ['--host', 'also for agents that need a sandbox, although it runs on the worker’s machine'],
          no_host: ['--no-host', 'not for those'],
          file: ['--file <path>', 'all of it from a YAML or JSON file; flags win over it'],
        },
        says: ({ name, agents }) =>
          `${name} has its credentials; it is run by credentialed_exec only, by: ${agents.length === 0 ? 'no agent yet (--agent)' : agents.join(', ')}`,
      },
    }),
    deleteSecureCli: remove({
      scope: 'admin',
      summary: 'Take a program its credentials',
      command: {
        word: 'delete',
        help: 'take a program its credentials',
        says: (name) => `${name} has no credentials any more`,
      },
    }),
  }),
);

const path = '/v1/secure-clis/:name/user-credentials';
const own = {
  scope: 'run',
  path,
  params: z.object({ name: nameOfBinary }),
  query: z.strictObject({
    user: labelSchema.optional().describe('For admins; the user of the key when absent'),
  }),
  findsFirst: true,
} as const;

const userCredentialsSchema = z.object({
  name: nameOfBinary,
  user: z.string(),
  env_names: z.array(z.string()),
  given_at: timeSchema,
});

export const secureCliCredentials = defineResource(
  {
    path,
    tag: 'secrets',
    item: userCredentialsSchema,
    key: 'name',
    keySchema: nameOfBinary,
    missing: 'There is no program with credentials of this name, or nothing was given for it',
  },
  () => ({
    getSecureCliUserCredentials: operation({
      ...own,
      method: 'GET',
      summary: 'Look at what a user has given for a program',
      description: 'Names, and no values.',
      answer: userCredentialsSchema,
      command: { word: 'own', help: 'what you have given for a program, by names' },
    }),
    setSecureCliUserCredentials: operation({
      ...own,
      method: 'PUT',
      summary: 'Give a user’s own credentials for a program',
      description: 'All variables of its `user_env`. Replaces what was given before.',
      body: z.strictObject({ env: z.record(variableName, textSchema(MAX_SECRET).min(MIN_SECRET)) }),
      answer: userCredentialsSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'credentials',
        help: 'give your own for a program; FILE has {"env": {…}}, - is a pipe',
        arguments: ['file'],
        file: '{"env": {…}}',
        says: (_answer, { name }) => `${name} runs with them in your turns`,
      },
    }),
    deleteSecureCliUserCredentials: operation({
      ...own,
      method: 'DELETE',
      summary: 'Remove a user’s credentials for a program',
      answer: z.null(),
      status: 204,
      command: {
        word: 'logout',
        help: 'remove your own credentials for a program',
        answer: ({ name }) => ({ name, deleted: true }),
        says: (_answer, { name }) => `nothing of yours is kept for ${name}`,
      },
    }),
  }),
);
