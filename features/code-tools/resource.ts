/** Tool hosts: programs that run tools written in TypeScript or Python, and hooks in TypeScript, each on a task queue of its own. */
import { defineResource } from '#domain/resource/define-resource.ts';
import { hostNameSchema, toolHostChangeSchema, toolHostSchema } from './schema.ts';

export const toolHosts = defineResource(
  {
    path: '/v1/tool-hosts',
    tag: 'tools',
    item: toolHostSchema,
    key: 'name',
    keySchema: hostNameSchema,
    isDefinition: true,
    missing: 'There is no tool host of this name',
  },
  ({ listAll, show, put, remove }) => ({
    listToolHosts: listAll({
      scope: 'read',
      summary: 'List tool hosts',
      command: {
        help: 'programs that run tools written in TypeScript or Python',
        columns: {
          name: 'name',
          tools: { flexible: (row) => row.tools.map(({ name }) => name).join(' ') },
          queue: { flexible: (row) => row.task_queues.runs },
          changed: { ago: 'updated_at' },
        },
        nothing: 'No tool hosts.',
      },
    }),
    getToolHost: show({
      scope: 'read',
      summary: 'Get a tool host',
      command: {
        help: 'one tool host',
        fields: ({ tools, hooks, task_queues: queues, ...row }) => ({
          ...row,
          task_queue: queues.runs,
          tools: tools.map(({ name }) => name).join(' '),
          hooks: hooks.map(({ name }) => name).join(' '),
        }),
      },
    }),
    putToolHost: put({
      scope: 'admin',
      summary: 'Register the tools and hooks of a host',
      description:
        'They replace those that it had. Calls that were judged by a tool as it was before a change do not run.',
      body: toolHostChangeSchema,
      maxBytes: 4 * 1_048_576,
      refuses: ['Conflict', 'Unprocessable'],
      command: { by: 'tools serve' },
    }),
    deleteToolHost: remove({
      scope: 'admin',
      summary: 'Delete a tool host',
      description: 'Its tools are gone; calls of them that have not begun end with `NotFound`.',
      command: { word: 'delete', help: 'delete one with its tools', says: (name) => `${name} is deleted` },
    }),
  }),
);
