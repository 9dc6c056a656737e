/** The kinds of things that are set up, in the order of the tabs. */
import { ExactText } from '../../components/exact-text.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { AgentRules } from './agent-rules.tsx';
import { ChannelPeople, LocalTime, McpTools, ScheduleRuns, ToolFacts } from './beside.tsx';
import { defineKind } from './kind.ts';
import { MadeKey, MadeNode, SecretForm } from './made.tsx';
import { SkillFolder, SkillForm } from './skill-form.tsx';

export const KINDS = [
  defineKind('agents', 'GET /v1/agents', {
    title: 'Agents',
    scopes: ['read', 'admin'],
    key: 'key',
    badge: ({ type }) => type,
    more: ({ name, model, updated_at: at }) => [
      name,
      [model].flat().join(' → '),
      <TimeAgo key="at" at={at} />,
    ],
    empty: 'create clerk --model rehearsal/welcome',
    make: ['New agent'],
    page: 'edit',
    remove: ['Delete', 'Its sessions go on with its last revision; new ones cannot name it.'],
    Beside: AgentRules,
  }),
  defineKind('tools', 'GET /v1/tools', {
    title: 'Tools',
    scopes: ['read', 'admin'],
    key: 'name',
    badge: ({ group }) => group,
    more: ({ description }) => [description.slice(0, 200)],
    isByAgent: true,
    empty: 'list',
    page: 'show',
    Beside: ToolFacts,
  }),
  defineKind('skills', 'GET /v1/skills', {
    title: 'Skills',
    scopes: ['read', 'admin'],
    key: 'name',
    badge: ({ visibility }) => visibility,
    more: ({ description, allowed_tools: tools, version }) => [
      `version ${version}`,
      tools && `needs ${tools.join(', ')}`,
      description,
    ],
    empty: 'publish FOLDER',
    make: ['New skill'],
    MakeForm: SkillForm,
    page: 'show',
    remove: ['Remove', 'No agent finds it from its next step on.'],
    Beside: SkillFolder,
  }),
  defineKind('mcp', 'GET /v1/mcp/servers', {
    title: 'MCP servers',
    scopes: ['admin', 'admin'],
    key: 'name',
    badge: ({ status }) => status,
    more: ({ tools, url, command, args }) => {
      const waiting = tools.filter(({ changed }) => changed).length;
      return [
        url || [command, ...args].join(' '),
        `${tools.length} tools`,
        waiting > 0 && `${waiting} to agree to`,
      ];
    },
    empty: 'add github --url https://api.githubcopilot.com/mcp/',
    make: ['New server'],
    page: 'edit',
    remove: ['Delete', 'Calls of its tools that have not begun end with NotFound.'],
    Beside: McpTools,
  }),
  defineKind('schedules', 'GET /v1/schedules', {
    title: 'Schedules',
    scopes: ['read', 'run'],
    key: 'id',
    nameOf: ({ name }) => name,
    badge: ({ enabled }) => !enabled && 'paused',
    more: ({ agent, next_runs: [next], message }) => [
      agent,
      next ? <LocalTime key="next" at={next} /> : 'does not run by itself',
      message.slice(0, 200),
    ],
    isByAgent: true,
    empty: 'add report --cron "0 9 * * 1-5" --message "Write the report."',
    make: ['New schedule'],
    page: 'edit',
    remove: ['Remove', 'It runs no more; the sessions of its runs stay.'],
    Beside: ScheduleRuns,
  }),
  defineKind('channels', 'GET /v1/channels', {
    title: 'Channels',
    scopes: ['admin', 'admin'],
    key: 'key',
    badge: ({ enabled, failing_since: failing }) => (enabled ? (failing ? 'failing' : 'on') : 'off'),
    more: ({ type, agent, inbound }) => [type, agent, inbound],
    empty: 'add chat --type web',
    make: ['New channel'],
    page: 'edit',
    remove: ['Delete', 'Its people and deliveries go; its sessions stay.'],
    Beside: ChannelPeople,
  }),
  defineKind('nodes', 'GET /v1/nodes', {
    title: 'Nodes',
    scopes: ['read', 'admin'],
    key: 'name',
    badge: ({ state }) => state,
    more: ({ platform, capabilities, seen_at: seen }) => [
      platform,
      capabilities.map(({ name }) => name).join(' '),
      seen && <TimeAgo key="seen" at={seen} />,
    ],
    empty: 'invite laptop',
    make: ['Invite a machine', '/v1/nodes/invites'],
    Made: MadeNode,
    page: 'edit',
    remove: ['Delete', 'It is cut off, and its token is worth nothing.'],
  }),
  defineKind('secrets', 'GET /v1/secrets', {
    title: 'Secrets',
    scopes: ['admin', 'admin'],
    key: 'name',
    more: ({ updated_by: by, updated_at: at }) => [`set by ${by}`, <TimeAgo key="at" at={at} />],
    empty: 'set NAME',
    make: ['Set a secret'],
    MakeForm: SecretForm,
    remove: ['Delete', 'What refers to it fails from then on.'],
  }),
  defineKind('api-keys', 'GET /v1/api-keys', {
    title: 'Keys',
    scopes: ['admin', 'admin'],
    key: 'id',
    nameOf: ({ name }) => name,
    badge: ({ revoked_at: at }) => at !== null && 'revoked',
    more: ({ id, user, scopes, expires_at: end, created_at: at }) => [
      id,
      scopes.join(' '),
      user,
      end && <LocalTime key="end" at={end} />,
      <TimeAgo key="at" at={at} />,
    ],
    empty: 'create ci --scopes read,run',
    make: ['New key'],
    Made: MadeKey,
    remove: ['Revoke', 'Whoever has it is refused within ten seconds, for good.'],
    isOver: ({ revoked_at: at }) => at !== null,
  }),
];

/** Texts may be of others. */
export function joined(parts: ReturnType<(typeof KINDS)[number]['more']>) {
  return parts
    .filter(Boolean)
    .flatMap((part, index) => [
      index > 0 && ' · ',
      typeof part === 'string' ? <ExactText key={index} text={part} /> : part,
    ]);
}
