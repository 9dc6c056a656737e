/**
 * Agents, which answer messages. A change creates a new revision; running turns keep the revision they started with.
 */
import { isName } from '../ids.ts';
import { agentCreateSchema, agentPatchSchema, agentSchema } from '../schema/agent.ts';
import { defineResource } from './define-resource.ts';

export const agents = defineResource(
  {
    path: '/v1/agents',
    tag: 'agents',
    item: agentSchema,
    key: 'key',
    isKey: isName,
    isDefinition: true,
    missing: 'There is no agent with this key',
  },
  ({ list, show, create, change, remove }) => ({
    listAgents: list({
      scope: 'read',
      summary: 'List agents',
      command: {
        help: 'the agents there are',
        columns: [
          { title: 'agent', cell: (agent) => agent.key },
          { title: 'name', cell: (agent) => agent.name },
          { title: 'model', cell: (agent) => [agent.model].flat().join(' → '), flexible: true },
          { title: 'type', cell: (agent) => agent.type },
          { title: 'revision', cell: (agent) => agent.revision },
          { title: 'changed', cell: (agent) => agent.updated_at, ago: true },
        ],
        nothing: 'No agents.',
      },
    }),
    getAgent: show({ scope: 'read', summary: 'Get an agent' }),
    createAgent: create({
      scope: 'admin',
      summary: 'Make an agent',
      body: agentCreateSchema,
      refuses: ['Conflict', 'Unprocessable'],
    }),
    updateAgent: change({
      scope: 'admin',
      summary: 'Change an agent',
      description: 'Given fields replace the old ones whole; null removes an optional one.',
      body: agentPatchSchema,
      refuses: ['Conflict', 'Unprocessable'],
    }),
    deleteAgent: remove({
      scope: 'admin',
      summary: 'Delete an agent',
      description:
        'Sessions that have it go on with its last revision; new ones cannot name it. `main` stays.',
      refuses: ['Conflict'],
      command: {
        word: 'delete',
        help: 'delete an agent; its sessions stay readable',
        says: (key) => `agent ${key} is deleted`,
      },
    }),
  }),
);
