/** Folders of GoClaw and clawft as requests of our API, and what of them has no counterpart. */
import assert from 'node:assert/strict';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readClawft } from '../clawft/read-clawft.ts';
import type { Findings } from '../findings.ts';
import { readGoclaw } from '../goclaw/read-goclaw.ts';
import { openFolder } from '../source-folder.ts';
import { CLAWFT, GOCLAW, makeFolder } from './folders.ts';

const made: string[] = [];
after(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = makeFolder(files);
  made.push(folder);
  return folder;
}

const FAKES = /FAKE|hunter2|zalo-token|abcdef/;

function documentsOf({ documents }: Findings): readonly string[] {
  return documents.map(({ agent, user, path }) => [agent, user, path].join(' '));
}

function remarksOf({ remarks }: Findings): string {
  return remarks.map(({ what, why }) => `${what}: ${why}`).join('\n');
}

describe('a folder of GoClaw', () => {
  let found: Findings;
  before(async () => {
    found = await readGoclaw(openFolder(folderOf(GOCLAW)));
  });

  it('has agents, of its settings and of exports', () => {
    assert.partialDeepStrictEqual(found.agents, [
      {
        key: 'default',
        name: 'Helper',
        model: 'rehearsal/follow',
        tools: { profile: 'coding', also_allow: ['cron'] },
        limits: { iterations: 20, output_tokens: 8192 },
        tool_names: 'goclaw',
      },
      {
        key: 'writer',
        model: 'rehearsal/echo',
        limits: { iterations: 5, output_tokens: 8192 },
        sandbox: { mode: 'required', memory: '512m' },
      },
      {
        key: 'support',
        type: 'predefined',
        description: 'Answers customers',
        thinking: 'none',
        tools: { deny: ['exec'] },
        exec: { categories: { network_recon: false } },
      },
    ]);
  });

  it('has context files and memory, of agents and of users', () => {
    assert.deepEqual(documentsOf(found), [
      'default  AGENTS.md',
      'default  SOUL.md',
      'default  memory/2026-11-01.md',
      'writer  IDENTITY.md',
      'support  SOUL.md',
      'support ann USER.md',
      'support  MEMORY.md',
      'support ann memory/orders.md',
    ]);
  });

  it('has skills in the open format', () => {
    assert.deepEqual(
      found.skills.map(({ name, files }) => [name, files.map(({ path }) => path)]),
      [['release-notes', ['SKILL.md', 'references/style.md']]],
    );
    const text = Buffer.from(found.skills[0]?.files[0]?.content ?? '', 'base64').toString('utf8');
    assert.match(text, /^---\nname: release-notes\ndescription: How to write release notes\n/);
    assert.match(text, /metadata:\n {2}version: 1\.2\.0\n {2}tags: docs\n/);
    assert.match(text, /\nList what users see\.\n$/);
  });

  it('has schedules, paused, whose answers go to the chat that had them', () => {
    assert.partialDeepStrictEqual(found.schedules, [
      { name: 'sweep', agent: 'support', enabled: false, schedule: { kind: 'every', every_seconds: 3600 } },
      {
        name: 'Morning-Report',
        agent: 'writer',
        enabled: false,
        session: 'telegram:386246614',
        schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Asia/Ho_Chi_Minh' },
      },
    ]);
    assert.match(remarksOf(found), /schedule once: its time 2023-11-14T22:13:20\.000Z has passed/);
  });

  it('has servers, tools and channels, with references in place of secrets', () => {
    assert.partialDeepStrictEqual(found.servers, [
      { name: 'github', command: 'npx', env: { GITHUB_TOKEN: 'secret://mcp_github_GITHUB_TOKEN' } },
      { name: 'search', url: 'https://search.example.com/mcp', timeout_sec: 30 },
    ]);
    assert.partialDeepStrictEqual(found.grants, [
      { server: 'search', agent: 'support', grant: { tool_allow: ['find'] } },
    ]);
    assert.partialDeepStrictEqual(found.tools, [
      {
        name: 'lookup_order',
        agent_id: 'support',
        env: { ORDERS_TOKEN: 'secret://lookup_order_ORDERS_TOKEN' },
      },
    ]);
    assert.partialDeepStrictEqual(found.channels, [
      {
        key: 'telegram',
        agent: 'writer',
        settings: { people: 'pairing', groups: 'all', token: 'secret://telegram_token' },
      },
    ]);
  });

  it('says what has no counterpart and why, and repeats no secret', () => {
    const remarks = remarksOf(found);
    for (const pattern of [
      /agent writer: temperature: models run with their own/,
      /agent support: self_evolve: TempoClaw has nothing like it/,
      /agent support: tools: imageGen/,
      /agent support: shell_deny_groups\.made_up: there is no such category/,
      /agent support: knowledge_graph: facts are drawn from memory anew/,
      /file TEAM\.md of support: TempoClaw generates it/,
      /file USER\.md of writer: it holds what looks like a secret/,
      /mcp server leaky: its address holds a credential/,
      /channel zalo: there is no channel of this type/,
      /channel telegram: allow_from 386246614: say as whom/,
      /tool stray: its agent is not in the folder/,
      /^providers: keys of models are settings/m,
    ])
      assert.match(remarks, pattern);
    assert.doesNotMatch(JSON.stringify(found), FAKES);
  });
});

describe('a folder of clawft', () => {
  let found: Findings;
  before(async () => {
    found = await readClawft(openFolder(folderOf(CLAWFT)));
  });

  it('has agents, with the variables of their prompts filled in', () => {
    assert.partialDeepStrictEqual(found.agents, [
      {
        key: 'clawft',
        model: 'rehearsal/follow',
        limits: { iterations: 15, output_tokens: 4096 },
        tool_names: 'clawft',
      },
      {
        key: 'researcher',
        model: 'rehearsal/echo',
        instructions: 'Answer in markdown: $ARGUMENTS\n',
        tools: { allow: ['web_search', 'read_file'] },
        limits: { iterations: 9 },
      },
      { key: 'reviewer', model: 'rehearsal/follow' },
    ]);
    assert.deepEqual(documentsOf(found), [
      'clawft  MEMORY.md',
      'clawft  SOUL.md',
      'clawft  AGENTS.md',
      'researcher  SOUL.md',
    ]);
  });

  it('has skills of both of its formats, servers, schedules and channels', () => {
    assert.deepEqual(
      found.skills.map(({ name }) => name),
      ['older', 'research'],
    );
    assert.partialDeepStrictEqual(found.servers, [{ name: 'db', internal_only: false }]);
    assert.partialDeepStrictEqual(found.schedules, [
      {
        name: 'daily-report',
        agent: 'clawft',
        message: 'Write the report.',
        schedule: { expr: '0 9 * * 2' },
      },
    ]);
    assert.equal(found.schedules.length, 1);
    assert.partialDeepStrictEqual(found.channels, [
      { key: 'slack', settings: { people: 'list', groups: 'mention' } },
    ]);
  });

  it('says what to check, and repeats no secret', () => {
    const remarks = remarksOf(found);
    for (const pattern of [
      /schedule daily-report: day of the week: clawft counts Sunday as 1/,
      /agent researcher: \$ARGUMENTS in its prompt/,
      /CLAWFT\.md: lines that begin with @/,
      /channel irc: there is no channel of this type/,
    ])
      assert.match(remarks, pattern);
    assert.doesNotMatch(JSON.stringify(found), FAKES);
  });
});

describe('a folder that cannot be imported', () => {
  it('is refused with its place when a file is broken, or leads out of the folder', async () => {
    const folder = folderOf({ 'servers.jsonl': '{"name":"a"}\n{"name":' });
    await assert.rejects(readGoclaw(openFolder(folder)), /servers\.jsonl:2 cannot be read/);
    const other = folderOf({ 'config.json': {} });
    writeFileSync(join(folder, 'servers.jsonl'), '');
    symlinkSync(join(other, 'config.json'), join(folder, 'config.json'));
    await assert.rejects(readGoclaw(openFolder(folder)), /config\.json is a link out of the folder/);
    assert.throws(() => openFolder(join(folder, 'missing')), /is no folder that can be read/);
  });
});
