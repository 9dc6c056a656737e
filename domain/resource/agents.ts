/**
 * Agents, which answer messages. A change creates a new revision; running turns keep the revision they started with.
 */
import { isName } from '../ids.ts';
import { agentCreateSchema, agentPatchSchema, agentSchema } from '../schema/agent.ts';
import type { Flags } from './command.ts';
import { defineResource } from './define-resource.ts';

/** Flags by the field that each sets, or by the group and its field. */
export const agentFlags = {
  file: ['--file <path>', 'a YAML or JSON file with the agent (- reads it from a pipe); flags win over it'],
  model: ['--model <ref...>', 'provider/model; several are tried in order'],
  name: ['--name <name>'],
  type: ['--type <type>', 'open or predefined'],
  instructions: ['--instructions <text>', 'what the agent is told; @FILE reads them from a file'],
  'tools.profile': ['--profile <name>', 'tool profile'],
  'tools.allow': ['--allow <tool...>', 'tools it may use: names, globs, group:NAME'],
  'tools.deny': ['--deny <tool...>', 'tools it may not use'],
  'exec.security': ['--exec-security <level>', 'deny, allowlist or full'],
  'exec.ask': ['--exec-ask <when>', 'off, on-miss or always'],
  'limits.iterations': ['--iterations <n>', 'model calls in a turn', { kind: 'number' }],
  workspace: ['--workspace <name>', 'folder under the workspace root'],
} as const satisfies Flags;

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
        columns: {
          agent: 'key',
          name: 'name',
          model: { flexible: (agent) => [agent.model].flat().join(' → ') },
          type: 'type',
          revision: 'revision',
          changed: { ago: 'updated_at' },
        },
        nothing: 'No agents.',
      },
    }),
    getAgent: show({ scope: 'read', summary: 'Get an agent', command: { help: 'one agent' } }),
    createAgent: create({
      scope: 'admin',
      summary: 'Make an agent',
      body: agentCreateSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'create',
        help: 'make an agent',
        arguments: ['key'],
        mayLackLast: true,
        flags: agentFlags,
      },
    }),
    updateAgent: change({
      scope: 'admin',
      summary: 'Change an agent',
      description: 'Given fields replace the old ones whole; null removes an optional one.',
      body: agentPatchSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'update',
        help: 'change an agent; what is given replaces what was there',
        flags: {
          ...agentFlags,
          revision: ['--revision <n>', 'only while this is its revision', { kind: 'number' }],
        },
      },
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
