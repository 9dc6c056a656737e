/** DU-8: an agent is exported and imported as a file. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { publishSkill } from '#features/skills/store.ts';
import { writeDocument } from '#store/files/document-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Answer, startApi, type TestApi } from '#test/support/stack.ts';
import { skillText } from '#test/support/skills.ts';

let api: TestApi;
let other: { readonly tenant: string; readonly key: string };
const CANARY = 'wVq-7731-canary-of-the-vault';
before(async () => {
  api = await startApi();
  other = await api.makeTenant();
  await api.ask('POST', '/v1/agents', {
    body: { key: 'scribe', model: 'rehearsal/echo', instructions: 'Write.', limits: { output_tokens: 7 } },
  });
  const documents = [
    [null, 'SOUL.md', 'calm', false],
    [null, 'memory/house.md', `The tap drips.\n${CANARY}\n`, false],
    ['ann', 'MEMORY.md', 'Ann says ü.', true],
    ['ann', 'BOOTSTRAP.md', '', false],
    ['ben', 'MEMORY.md', 'Ben is elsewhere.', false],
  ] as const;
  for (const [user, path, text, outside] of documents)
    await writeDocument(
      api.pool,
      { tenant: api.tenant, agent: 'scribe', user },
      { path, author: 'x', outside, by: () => text },
    );
  for (const [name, subject] of [
    ['owned', 'scribe'],
    ['others', 'somebody'],
  ] as const) {
    const files = [{ path: 'SKILL.md', bytes: Buffer.from(skillText(name)) }];
    await publishSkill(forTenant(api.pool, api.tenant), {
      name,
      description: `Knows ${name}`,
      allowed: null,
      visibility: 'private',
      files,
      by: 'agent',
      call: { id: 'call_x', kind: 'agent', subject },
    });
  }
  await api.ask('PUT', '/v1/skills/granted', {
    body: { files: [{ path: 'SKILL.md', content: Buffer.from(skillText('granted')).toString('base64') }] },
  });
  await api.ask('PUT', '/v1/skills/granted/grants/agent/scribe');
  // What has become a secret since is not in a file that is made now.
  await api.ask('PUT', '/v1/secrets/LATER', { body: { value: CANARY } });
});
after(() => api.stop());

async function exported(query = '', key = api.key): Promise<string> {
  const answer = await fetch(`${api.url}/v1/agents/scribe/export${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson');
  return answer.text();
}

async function imported(as: string, file: string, { key = api.key, query = '' } = {}): Promise<Answer> {
  const answer = await fetch(`${api.url}/v1/agents/${as}/import${query}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    body: file,
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** Changes lines, and updates the digest. */
function changed(file: string, change: (lines: Record<string, unknown>[]) => unknown[]): string {
  const lines = file
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const text = change(lines)
    .map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
    .join('');
  const sha256 = createHash('sha256').update(text).digest('hex');
  return `${text}${JSON.stringify({ kind: 'end', sha256 })}\n`;
}

const files = async (agent: string, user: string, key: string): Promise<unknown> => {
  const { body } = await api.ask('GET', `/v1/agents/${agent}/files?user=${user}`, { key });
  return Promise.all(
    body.data.map(async ({ path, user: of, outside }: { path: string; user: string; outside: boolean }) => {
      const name = encodeURIComponent(path);
      const one = await api.ask('GET', `/v1/agents/${agent}/files/${name}?user=${user}`, { key });
      return [path, of, outside, one.body.text];
    }),
  );
};

describe('DU-8 export and import of an agent', () => {
  test('an import elsewhere is the same agent, with the users that were asked for, and without secrets', async () => {
    const file = await exported('?user=ann&user=ann&user=nobody');
    assert.ok(!file.includes(CANARY) && !file.includes('Ben is elsewhere') && !file.includes('others'));
    const first = await imported('scribe', file, { key: other.key, query: '?trusted=true' });
    assert.deepEqual(first.body, { key: 'scribe', agent: 'made', documents: 4, skills: 2 });
    const { body: agent } = await api.ask('GET', '/v1/agents/scribe', { key: other.key });
    assert.deepEqual([agent.instructions, agent.limits], ['Write.', { output_tokens: 7 }]);
    const seen = (await files('scribe', 'ann', other.key)) as unknown[][];
    assert.deepEqual(
      seen.map(([path, of, outside]) => [path, of, outside]),
      [
        ['MEMORY.md', 'ann', true],
        ['SOUL.md', null, false],
        ['memory/house.md', null, false],
      ],
    );
    assert.equal(seen[0]?.[3], 'Ann says ü.');
    assert.match(String(seen[2]?.[3]), /^The tap drips\.\n\[redacted/i);
    const skills = await api.ask('GET', '/v1/skills', { key: other.key });
    assert.deepEqual(
      skills.body.data.map((one: Record<string, unknown>) => [one['name'], one['owner'], one['agreed']]),
      [
        ['granted', null, true],
        ['owned', 'agent:scribe', false],
      ],
    );
    const grants = await api.ask('GET', '/v1/skills/granted/grants', { key: other.key });
    assert.deepEqual(
      grants.body.data.map((one: Record<string, unknown>) => [one['kind'], one['subject']]),
      [['agent', 'scribe']],
    );
  });

  test('SC-4 a file that nobody vouches for is from outside, whatever it says, and nothing in it agreed to', async () => {
    const another = await api.makeTenant();
    await imported('scribe', await exported('?user=ann'), { key: another.key });
    const seen = (await files('scribe', 'ann', another.key)) as unknown[][];
    assert.deepEqual(
      seen.map(([path, , outside]) => [path, outside]),
      [
        ['MEMORY.md', true],
        ['SOUL.md', true],
        ['memory/house.md', true],
      ],
    );
    const skills = await api.ask('GET', '/v1/skills', { key: another.key });
    assert.deepEqual(
      skills.body.data.map((one: Record<string, unknown>) => [one['name'], one['agreed']]),
      [
        ['granted', false],
        ['owned', false],
      ],
    );
  });

  test('done again it changes nothing, and what a killed import left undone is done by the next', async () => {
    const file = await exported('?user=ann');
    await imported('again', file);
    await api.pool.query(`delete from documents where agent_key = 'again' and path = 'SOUL.md'`);
    await api.pool.query(`delete from skill_grants where name = 'owned' and subject = 'again'`);
    const rest = await imported('again', file);
    assert.deepEqual(rest.body, { key: 'again', agent: 'unchanged', documents: 1, skills: 0 });
    const last = await imported('again', file);
    assert.deepEqual(last.body, { key: 'again', agent: 'unchanged', documents: 0, skills: 0 });
    const { rows } = await api.pool.query(
      `select count(*)::int as n from document_versions where agent_key = 'again'`,
    );
    assert.equal(rows[0].n, 5, 'four that were made, and one again');
    const grants = await api.ask('GET', '/v1/skills/owned/grants');
    assert.ok(grants.body.data.some((one: { subject: string }) => one.subject === 'again'));
  });

  test('what is there and differs is overwritten only when that is asked for, and then kept as a version', async () => {
    const file = await exported('?user=ann');
    await imported('mine', file);
    await api.ask('PATCH', '/v1/agents/mine', { body: { instructions: 'Mine.' } });
    await api.ask('PUT', '/v1/agents/mine/files/MEMORY.md?user=ann', { body: { text: 'mine' } });
    const refused = await imported('mine', file);
    assert.deepEqual([refused.status, refused.body.code], [409, 'Conflict']);
    assert.match(refused.body.detail, /would overwrite the agent mine, MEMORY\.md of ann:/);
    const kept = await api.ask('GET', '/v1/agents/mine/files/MEMORY.md?user=ann');
    assert.equal(kept.body.text, 'mine');
    const done = await imported('mine', file, { query: '?replace=true' });
    assert.deepEqual(done.body, { key: 'mine', agent: 'replaced', documents: 1, skills: 0 });
    const versions = await api.ask('GET', '/v1/agents/mine/files/MEMORY.md/versions?user=ann');
    assert.deepEqual(
      versions.body.data.map((one: { revision: number }) => one.revision),
      [3, 2, 1],
    );
    assert.match(versions.body.data[0].author, /^key:/);
  });

  test('what is not valid is refused with its line and why, before anything is written', async () => {
    const file = await exported('?user=ann');
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['', /^Line 1: it is not JSON$/],
      [file.slice(0, file.length / 2), /^Line \d+: it is not JSON$/],
      [file.trimEnd().split('\n').slice(0, -1).join('\n'), /^Line \d+: .*cut off/],
      [file.replace('calm', 'wild'), /^Line \d+: the digest is not/],
      [changed(file, (lines) => lines.slice(1)), /^Line 1: an export begins with its agent/],
      [changed(file, ([agent]) => [{ ...agent, version: 2 }]), /^Line 1: version: /],
      [
        changed(file, ([agent]) => [{ ...agent, agent: { key: 'x', type: 'open', model: 'none/such' } }]),
        /^Line 1: /,
      ],
      [changed(file, (lines) => [...lines, lines[1]]), /^Line \d+: line 2 is of the same/],
      [changed(file, ([agent]) => [agent, agent]), /^Line 1: a file has one agent/],
      [changed(file, ([agent]) => [agent, 'x']), /^Line 2: it is not JSON/],
      [
        changed(file, ([agent, first]) => [
          agent,
          { ...first, path: 'memory/a' },
          { ...first, path: 'memory/a/b.md' },
        ]),
        /^Line 3: memory\/a\/b\.md would make memory\/a of line 2 a folder/,
      ],
      [
        changed(file, ([agent, first]) => [agent, { ...first, path: '../x.md' }]),
        /^Line 2: path: is no context file and no memory/,
      ],
      [
        changed(file, ([agent, first]) => [agent, { ...first, path: 'SOUL.md', text: 'ü'.repeat(600_000) }]),
        /^Line 2: SOUL\.md would have 1200000 bytes/,
      ],
      [
        changed(file, ([agent]) => [
          agent,
          {
            kind: 'skill',
            name: 'odd',
            visibility: 'private',
            owned: true,
            agreed: true,
            files: [{ path: '../SKILL.md', content: 'eA==' }],
          },
        ]),
        /^Line 2: \.\.\/SKILL\.md must be relative/,
      ],
    ];
    for (const [at, [text, why]] of wrong.entries()) {
      const { status, body } = await imported(`wrong-${at}`, text);
      assert.ok(status === 422 || status === 400, `${at}: ${status} ${body.detail}`);
      assert.match(body.detail, why);
      assert.equal((await api.ask('GET', `/v1/agents/wrong-${at}`)).status, 404);
    }
    assert.equal((await imported('not a key', file)).status, 400);
  });

  test('R8 both need an admin, of the same tenant', async () => {
    const reader = await api.makeKey(['read', 'run']);
    assert.equal((await api.ask('GET', '/v1/agents/scribe/export', { key: reader })).status, 403);
    assert.equal((await imported('theirs', await exported(), { key: reader })).status, 403);
    const { key } = await api.makeTenant();
    assert.equal((await api.ask('GET', '/v1/agents/scribe/export', { key })).status, 404);
  });
});
