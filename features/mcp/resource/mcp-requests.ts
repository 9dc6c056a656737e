/** Who requests access to an MCP server, and what an admin decides (MC-3). */
import { isMessageId } from '#domain/ids.ts';
import {
  mcpRequestCreateSchema,
  mcpRequestReviewSchema,
  mcpRequestSchema,
  mcpRequestStatusSchema,
  mcpServerNameSchema,
} from '../schema/mcp-server.ts';
import { defineResource } from '#domain/resource/define-resource.ts';

export const mcpRequests = defineResource(
  {
    path: '/v1/mcp/requests',
    tag: 'mcp',
    item: mcpRequestSchema,
    key: 'id',
    isDefinition: true,
    isKey: isMessageId,
    missing: 'There is no access request with this id',
  },
  ({ list, show, create, action }) => ({
    listMcpRequests: list({
      scope: 'read',
      summary: 'List requests for access to MCP servers, newest first',
      description: 'Admins see all, others those that they have made.',
      query: { status: mcpRequestStatusSchema.optional(), server: mcpServerNameSchema.optional() },
      command: {
        help: 'who asks for access, newest first',
        flags: {
          status: ['--status <status>', '', { choices: mcpRequestStatusSchema.options }],
          server: ['--server <name>'],
        },
        columns: {
          id: 'id',
          status: 'status',
          server: 'server',
          for: ({ scope, subject }) => `${scope} ${subject}`,
          tools: ({ tool_allow }) => tool_allow.join(', ') || 'all',
          by: 'requested_by',
          reason: { flexible: 'reason' },
        },
        nothing: 'Nobody has asked for access.',
      },
    }),
    getMcpRequest: show({
      scope: 'read',
      summary: 'Get a request for access',
      command: { help: 'one request' },
    }),
    createMcpRequest: create({
      scope: 'run',
      summary: 'Ask for access to an MCP server',
      description:
        'For an agent, or for a user: a key with a user asks for that one only. It gives nothing until an admin approves it.',
      body: mcpRequestCreateSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'create',
        help: 'ask for access of an agent or a user to a server',
        arguments: ['server'],
        flags: {
          agent: ['--agent <key>', 'the agent it is for'],
          user: ['--user <user>', 'the user it is for; yours when neither is given'],
          tools: ['--tools <tool...>', 'only these; globs', { kind: 'texts' }],
          reason: ['--reason <text>', 'why it is needed', { required: true }],
        },
        sends: ({ server, agent, user, tools, reason = '' }) => ({
          server,
          scope: agent === undefined ? ('user' as const) : ('agent' as const),
          subject: agent ?? user,
          tool_allow: tools,
          reason,
        }),
        says: ({ id, server, scope, subject }) =>
          `${id}: access of ${scope} ${subject} to ${server} is asked for; an admin reviews it`,
      },
    }),
    reviewMcpRequest: action('review')({
      scope: 'admin',
      summary: 'Approve or reject a request for access',
      description:
        'Decided once. Approval adds the tools to the grant of the agent or user, in the same transaction; what a grant denies stays denied.',
      body: mcpRequestReviewSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'review',
        help: 'decide a request: approve or reject',
        arguments: ['decision'],
        flags: { reason: ['--reason <text>', 'needed to reject'] },
        sends: ({ decision, reason }) => ({ decision: decision as 'approve', reason }),
        says: ({ id, status, scope, subject, server }) =>
          `${id} is ${status}: ${scope} ${subject} on ${server}`,
      },
    }),
  }),
);
