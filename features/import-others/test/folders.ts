/** Folders as GoClaw and clawft write them. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export function makeFolder(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'import-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const lines = Array.isArray(content) ? content.map((row) => JSON.stringify(row)).join('\n') : undefined;
    writeFileSync(
      join(folder, path),
      typeof content === 'string' ? content : (lines ?? JSON.stringify(content)),
    );
  }
  return folder;
}

const AGENT_ID = '0198b6a2-7d51-7c1e-9b62-3c0f5a6e1d44';

export const GOCLAW = {
  'config.json': {
    agents: {
      defaults: {
        workspace: '~/.goclaw/workspace',
        restrict_to_workspace: true,
        provider: 'rehearsal',
        model: 'follow',
        max_tokens: 8192,
        temperature: 0.7,
        max_tool_iterations: 20,
        context_window: 200000,
      },
      list: {
        default: { displayName: 'Helper', default: true, tools: { profile: 'coding', alsoAllow: ['cron'] } },
        writer: {
          model: 'echo',
          max_tool_iterations: 5,
          temperature: 0.2,
          sandbox: { mode: 'all', memory_mb: 512 },
        },
      },
    },
    channels: {
      telegram: {
        enabled: true,
        token: '7712345678:AAHfakeFAKEfakeFAKEfakeFAKEfakeFAKE12',
        dm_policy: 'pairing',
        group_policy: 'open',
        require_mention: false,
        allow_from: ['386246614'],
      },
      discord: { enabled: false, token: '' },
      zalo: { enabled: true, token: 'zalo-token-value' },
    },
    providers: { anthropic: { api_key: 'sk-ant-api03-FAKEFAKEFAKEFAKEFAKE' } },
    tools: {
      profile: 'full',
      mcp_servers: {
        github: {
          transport: 'stdio',
          command: 'npx',
          args: ['-y', '@modelcontextprotocol/server-github'],
          env: { GITHUB_TOKEN: 'ghp_FAKEaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3' },
        },
        leaky: { transport: 'streamable-http', url: 'https://mcp.example.com/?key=abcdef' },
      },
    },
    bindings: [{ agentId: 'writer', match: { channel: 'telegram' } }],
  },
  'workspace/SOUL.md': 'You are patient.',
  'workspace/AGENTS.md': 'Answer in short sentences.',
  'workspace/notes.txt': 'An ordinary file.',
  'workspace/memory/2026-11-01.md': 'The customer likes tea.',
  'workspace-writer/IDENTITY.md': 'You write.',
  'workspace-writer/USER.md': 'password = hunter2hunter2',
  'skills/release-notes/SKILL.md':
    '---\nname: Release Notes\ndescription: How to write release notes\nversion: 1.2.0\ntags: [docs]\n---\nList what users see.\n',
  'skills/release-notes/metadata.json': {
    id: 'x',
    name: 'Release Notes',
    slug: 'release-notes',
    visibility: 'public',
    version: 3,
  },
  'skills/release-notes/references/style.md': 'Short.',
  'cron/jobs.json': {
    version: 1,
    jobs: [
      {
        id: 'a1',
        name: 'Morning Report',
        agentId: 'writer',
        enabled: true,
        schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Asia/Ho_Chi_Minh' },
        payload: {
          kind: 'agent_turn',
          message: 'Write the report.',
          deliver: true,
          channel: 'telegram',
          to: '386246614',
        },
        state: {},
        createdAtMs: 1772000000000,
        deleteAfterRun: false,
      },
      {
        id: 'a2',
        name: 'once',
        enabled: true,
        schedule: { kind: 'at', atMs: 1700000000000 },
        payload: { message: 'Past.' },
      },
    ],
  },
  'support/manifest.json': {
    version: 1,
    format: 'goclaw-agent-export',
    agent_key: 'support',
    agent_id: AGENT_ID,
  },
  'support/agent.json': {
    agent_key: 'support',
    display_name: 'Support',
    provider: 'rehearsal',
    model: 'follow',
    context_window: 0,
    max_tool_iterations: 12,
    agent_type: 'predefined',
    status: 'active',
    agent_description: 'Answers customers',
    thinking_level: 'off',
    tools_config: { deny: ['exec'], imageGen: { provider: 'openrouter' } },
    other_config: { shell_deny_groups: { network_recon: false, made_up: true }, prompt_mode: 'full' },
    self_evolve: true,
  },
  'support/context_files/SOUL.md': 'You are kind.',
  'support/context_files/TEAM.md': 'generated',
  'support/user_context_files/ann/USER.md': 'Ann, from Hanoi.',
  'support/memory/global.jsonl': [{ path: 'MEMORY.md', content: 'Closed on Sundays.' }],
  'support/memory/users/ann.jsonl': [{ path: 'orders.md', content: 'A17 is late.', user_id: 'ann' }],
  'support/cron/jobs.jsonl': [
    {
      name: 'sweep',
      schedule_kind: 'every',
      interval_ms: 3600000,
      payload: { message: 'Look for late orders.' },
      delete_after_run: false,
    },
  ],
  'support/knowledge_graph/entities.jsonl': [{ external_id: 'e1' }],
  'servers.jsonl': [
    {
      name: 'search',
      transport: 'streamable-http',
      url: 'https://search.example.com/mcp',
      timeout_sec: 30,
      enabled: true,
    },
  ],
  'grants.jsonl': [
    { server_name: 'search', agent_key: 'support', enabled: true, tool_allow: ['find'], tool_deny: null },
  ],
  'custom_tools.json': {
    tools: [
      {
        id: 'x',
        name: 'lookup_order',
        description: 'Look an order up',
        parameters: {
          type: 'object',
          properties: { id: { type: 'string', description: 'Its id' } },
          required: ['id'],
        },
        command: 'orders show {{.id}}',
        timeout_seconds: 20,
        env: { ORDERS_TOKEN: 'tok-FAKEFAKEFAKE' },
        agent_id: AGENT_ID,
        enabled: true,
      },
      { name: 'stray', command: 'true', agent_id: '0198b6a2-0000-7c1e-9b62-3c0f5a6e1d44' },
    ],
    total: 2,
  },
};

export const CLAWFT = {
  'CLAWFT.md': '# My API\n\nUse parameterised SQL.\n\n@prompts/safety.md\n',
  '.clawft/config.json': {
    agents: {
      defaults: {
        workspace: '~/.clawft/workspace',
        model: 'rehearsal/follow',
        maxTokens: 4096,
        temperature: 0.7,
        maxToolIterations: 15,
      },
    },
    channels: {
      slack: {
        enabled: true,
        bot_token: 'xoxb-FAKE-FAKE-FAKEFAKEFAKE',
        app_token: 'xapp-FAKE',
        group_policy: 'mention',
        dm: { policy: 'allowlist', allowFrom: ['U123'] },
      },
      irc: { enabled: true, server: 'irc.example.com' },
    },
    tools: {
      mcpServers: {
        db: {
          command: 'npx',
          args: ['-y', 'project-db-mcp'],
          env: { DB_PASSWORD: 'pw-FAKEFAKE' },
          internalOnly: false,
        },
        slack: null,
      },
      exec: { timeout: 60 },
    },
    providers: { anthropic: { apiKey: 'sk-ant-FAKE' } },
  },
  '.clawft/SOUL.md': 'You are exact.',
  '.clawft/MEMORY.md': 'The API is on port 8080.',
  '.clawft/agents/researcher/agent.yaml':
    'name: researcher\ndescription: Deep research\nmodel: rehearsal/echo\nsystem_prompt: |\n  Answer in ${output_format}: $ARGUMENTS\nskills:\n  - research\nallowed_tools:\n  - WebSearch\n  - Read\nmax_turns: 9\nvariables:\n  output_format: markdown\n',
  '.clawft/agents/researcher/SOUL.md': 'You are curious.',
  '.clawft/agents/reviewer.json': { name: 'reviewer', description: 'Reviews', system_prompt: 'Review.' },
  '.clawft/skills/research/SKILL.md':
    '---\nname: research\ndescription: Deep research on a topic\nversion: 1.0.0\nvariables:\n  - topic\nallowed-tools:\n  - web_search\nuser-invocable: true\n---\n\nResearch {{topic}}.\n',
  '.clawft/skills/older/skill.json': {
    name: 'older',
    description: 'A legacy skill',
    variables: ['topic'],
    allowed_tools: ['Read'],
  },
  '.clawft/skills/older/prompt.md': 'Research {{topic}}.\n',
  '.clawft/cron.jsonl': [
    {
      type: 'create',
      job: { id: 'j1', name: 'daily report', schedule: '0 0 9 * * 2 *', prompt: 'Report.', enabled: true },
    },
    {
      type: 'create',
      job: { id: 'j2', name: 'gone', schedule: '0 0 9 * * * *', prompt: 'x', enabled: true },
    },
    { type: 'update', job_id: 'j1', field: 'prompt', value: 'Write the report.' },
    { type: 'delete', job_id: 'j2' },
  ],
};
