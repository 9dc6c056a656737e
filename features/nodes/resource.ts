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
import { defineResource, operation } from '#domain/resource/define-resource.ts';

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
        columns: {
          name: 'name',
          state: 'state',
          may: { flexible: (row) => row.capabilities.map(({ name }) => name).join(' ') },
          seen: { ago: (row) => row.seen_at ?? '' },
        },
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
      command: {
        word: 'invite',
        help: `a code by which a machine joins within ${CODE_MINUTES} minutes`,
        arguments: ['name'],
        flags: {
          capabilities: ['--capabilities <names>', 'all that it may be asked, such as system.info,file.read'],
        },
        says: ({ url, code }) =>
          `on the other machine, within ${CODE_MINUTES} minutes: npx tempoclaw node --url ${url} --code ${code}`,
      },
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
        sends: ({ to }) => ({ name: to }),
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
      command: {
        help: 'what was requested of one, the newest first',
        columns: {
          call: 'id',
          session: { flexible: 'session_key' },
          capability: 'capability',
          status: 'status',
          when: { ago: 'created_at' },
        },
        nothing: 'nothing was requested',
      },
    }),
  }),
);

/** It needs no key: the code is the credential. */
export const NODE_JOIN = { path: '/v1/nodes/join', body: nodeJoinSchema, answer: nodeJoinedSchema } as const;
