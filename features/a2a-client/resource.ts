/** Agents of other systems, reached by A2A: each is a tool of the tenant's agents. */
import { z } from 'zod';
import { defineResource } from '#domain/resource/define-resource.ts';
import { textSchema, timeSchema } from '#domain/schema/scalars.ts';

/** With `a2a_` before it, it is the name of a tool. */
const remoteName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be 1 to 40 of a-z, 0-9 and _, a letter first');

const fields = {
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .describe('Where it is: its card is at /.well-known/agent-card.json below that'),
  description: textSchema(2_000).describe('What it is good at; models choose it by that'),
};

/** Never the credential itself, because rows show it. */
const credential = z
  .string()
  .max(300)
  .regex(/^(?:[A-Za-z][\w-]{0,30} )?secret:\/\/[A-Za-z0-9_.-]{1,128}$/, 'must be like `Bearer secret://NAME`')
  .describe('The header Authorization of requests to it, with a secret of the tenant');

const putSchema = z.strictObject({ ...fields, credential: credential.optional() }).meta({
  examples: [
    {
      url: 'https://agents.example.com/papers/',
      description: 'Finds papers and sums them up',
      credential: 'Bearer secret://papers',
    },
  ],
});

export const remoteAgents = defineResource(
  {
    path: '/v1/remote-agents',
    tag: 'agents',
    item: z.object({
      name: remoteName,
      ...fields,
      credential: z.string().nullable(),
      tool: z.string().describe('The tool that gives work to it'),
      updated_by: z.string(),
      created_at: timeSchema,
      updated_at: timeSchema,
    }),
    key: 'name',
    keySchema: remoteName,
    isDefinition: true,
    missing: 'There is no remote agent of this name',
  },
  ({ listAll, show, put, remove }) => ({
    listRemoteAgents: listAll({
      scope: 'read',
      summary: 'List agents of other systems',
      command: {
        help: 'the remote agents there are',
        columns: {
          name: 'name',
          tool: 'tool',
          url: { flexible: 'url' },
          description: { flexible: 'description' },
        },
        nothing: 'No remote agents.',
      },
    }),
    getRemoteAgent: show({
      scope: 'read',
      summary: 'Get an agent of another system',
      command: { help: 'one remote agent' },
    }),
    putRemoteAgent: put({
      scope: 'admin',
      summary: 'Let agents give work to an agent of another system',
      description:
        'It becomes the tool `a2a_NAME` from their next step on. Calls that were judged by it as it was do not run.',
      body: putSchema,
      refuses: ['Unprocessable'],
      command: {
        word: 'set',
        help: 'let agents give work to an agent of another system',
        flags: {
          url: ['--address <url>', 'where it is'],
          description: ['--description <text>', 'what it is good at'],
          credential: ['--credential <header>', 'its Authorization, such as "Bearer secret://NAME"'],
        },
        says: ({ name, tool }) => `${name} is the tool ${tool}`,
      },
    }),
    deleteRemoteAgent: remove({
      scope: 'admin',
      summary: 'Delete an agent of another system',
      description: 'Its tool is gone; calls of it that have not begun end with `NotFound`.',
      command: { word: 'delete', help: 'delete a remote agent', says: (name) => `${name} is deleted` },
    }),
  }),
);
