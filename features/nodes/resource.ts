/** Nodes: other machines that agents use (features/nodes/contract/node.ts). */
import { z } from 'zod';
import { CODE_MINUTES } from './contract/node.ts';
import {
  nodeInvitedSchema,
  nodeInviteSchema,
  nodeInvocationSchema,
  nodeJoinedSchema,
  nodeJoinSchema,
  nodeNameSchema,
  nodeSchema,
} from './schema.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import type { Flags, WriteCommand } from '#domain/resource/command.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

type Invited = z.output<typeof nodeInvitedSchema>;

const inviteFlags = {
  capabilities: {
    flags: '--capabilities <names>',
    help: 'all that it may be asked, such as system.info,file.read',
    kind: 'commas',
  },
} as const satisfies Flags;

const invite: WriteCommand<Invited, z.input<typeof nodeInviteSchema>, 'name', typeof inviteFlags> = {
  word: 'invite',
  help: `a code by which a machine joins within ${CODE_MINUTES} minutes`,
  arguments: ['name'],
  flags: inviteFlags,
  body: ({ name, capabilities }) => ({ name, capabilities }),
  says: ({ url, code }) =>
    `on the other machine, within ${CODE_MINUTES} minutes: npx tempoclaw node --url ${url} --code ${code}`,
};

export const nodes = defineResource(
  {
    path: '/v1/nodes',
    tag: 'tools',
    item: nodeSchema,
    key: 'name',
    keySchema: nameSchema,
    isDefinition: true,
    missing: 'There is no node of this name',
  },
  ({ listAll, show, change, remove, listOf }) => ({
    listNodes: listAll({
      scope: 'read',
      summary: 'List nodes',
      command: {
        help: 'other machines that agents use',
        nothing: 'no nodes',
        columns: [
          { title: 'NAME', cell: (row) => row.name },
          { title: 'STATE', cell: (row) => row.state },
          { title: 'MAY', cell: (row) => row.capabilities.map(({ name }) => name).join(' '), flexible: true },
          { title: 'SEEN', cell: (row) => row.seen_at ?? '', ago: true },
        ],
      },
    }),
    getNode: show({
      scope: 'read',
      summary: 'Get a node',
      command: {
        help: 'one node',
        fields: ({ capabilities, ...row }) => ({
          ...row,
          capabilities: capabilities.map(({ name }) => name).join(' '),
        }),
      },
    }),
    inviteNode: operation({
      method: 'POST',
      path: '/v1/nodes/invites',
      scope: 'admin',
      summary: 'Make a pairing code for a machine',
      description: `Works once, within ${CODE_MINUTES} minutes. One that has not joined yet gets a new code.`,
      body: nodeInviteSchema,
      answer: nodeInvitedSchema,
      status: 201,
      shownOnce: ['code'],
      refuses: ['Conflict'],
      command: { kind: 'write', ...(invite as unknown as WriteCommand<unknown, unknown>) },
    }),
    renameNode: change({
      scope: 'admin',
      summary: 'Rename a node',
      body: z.strictObject({ name: nodeNameSchema }).meta({ examples: [{ name: 'laptop' }] }),
      refuses: ['Conflict'],
      command: {
        word: 'rename',
        help: 'give one another name',
        arguments: ['to'],
        body: ({ to }) => ({ name: to }),
        says: ({ name }) => `it is ${name} now`,
      },
    }),
    deleteNode: remove({
      scope: 'admin',
      summary: 'Revoke a node',
      gone: 'It is cut off and its token is worth nothing',
      command: { word: 'delete', help: 'revoke one', says: (name) => `${name} is cut off` },
    }),
    listNodeInvocations: listOf('invocations', nodeInvocationSchema, {
      scope: 'read',
      summary: 'List what was asked of a node, the newest first',
      description: 'Kept for 7 days; what came of each stands with its tool call.',
    }),
  }),
);

/** It needs no key: the code is the credential. */
export const NODE_JOIN = { path: '/v1/nodes/join', body: nodeJoinSchema, answer: nodeJoinedSchema } as const;
