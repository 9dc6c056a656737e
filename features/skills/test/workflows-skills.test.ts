/** MC-4: what a model reads about skills, which tools it has while one is in use, and what people agree to. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sentFile, type SkillStack, skillText, startSkillStack } from '#test/support/skills.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

const PEER = fileURLToPath(new URL('../../../test/support/mcp-peer.ts', import.meta.url));

/** Shows what the model gets before and after a skill is used. */
const SHOWS = `
rules:
  - when: { user: system }
    reply: { text: '{{system}}' }
  - when: { user: { regex: 'use (?<skill>\\S+)' }, step: 0 }
    reply: { calls: [{ tool: use_skill, args: { name: '{{match.skill}}' } }] }
  - reply: { text: '{{tools}}' }
`;

const INSTALLED = {
  'house/SKILL.md': skillText('house', 'allowed-tools: peek mcp_inner__*, exec\n', 'The rules of the house.'),
  'house/scripts/say.sh': 'echo "from $(cat scripts/word.txt)"\n',
  'house/scripts/word.txt': 'the house',
  'house/.env': 'HIDDEN=1',
  'plain/SKILL.md': skillText('plain'),
  'broken/SKILL.md': '# no front matter',
};
const EXEC = { security: 'full', ask: 'off' } as const;

describe('TL skills at work', () => {
  let skills: SkillStack;
  before(async () => {
    skills = await startSkillStack(
      {
        scripts: { shows: SHOWS },
        agents: [
          { key: 'main', exec: EXEC },
          { key: 'shows', model: 'rehearsal/shows' },
          { key: 'without', model: 'rehearsal/shows', tools: { deny: ['group:skills', 'skill_search'] } },
          { key: 'no-exec', exec: EXEC, tools: { deny: ['exec', 'mcp_inner__poke'] } },
          { key: 'reviewed', tools: { ask: [{ tool: 'publish_skill' }] } },
        ],
      },
      INSTALLED,
    );
  });
  after(() => skills.stop());

  it('tells a model names and descriptions and not a text, and nothing where the tools are denied', async () => {
    await skills.write('shows', 'skills/mine/SKILL.md', skillText('mine', '', 'Secretly do that.'));
    const { text } = await skills.turn('system', { agent: 'shows' });
    assert.match(
      text,
      /# Skills[\s\S]*- house: Knows house\n- plain: Knows plain\n- mine \(a file of your workspace\): Knows mine/,
    );
    assert.doesNotMatch(text, /rules of the house|Secretly|broken/);
    assert.doesNotMatch((await skills.turn('system', { agent: 'without' })).text, /Skills/);
  });

  it('PO-4 MC-4 leaves the tools that a skill names, from the next step to the end of the turn', async () => {
    const { text } = await skills.turn('use house', { agent: 'shows' });
    assert.deepEqual(
      text.match(/\b(?:peek|exec|use_skill|skill_search|read_file|write_file|datetime)\b/g)?.toSorted(),
      ['exec', 'peek', 'skill_search', 'use_skill'],
    );
    const { calls } = await skills.turn(
      'use_skill {"name":"house"}\ndatetime {}\nthen\ndatetime {}\npeek {"note":"x"}',
    );
    assert.deepEqual(
      calls.map(({ tool, ok }) => [tool, ok]),
      [
        ['use_skill', true],
        ['datetime', true],
        ['datetime', false],
        ['peek', true],
      ],
    );
    assert.match(calls[2]?.result ?? '', /PermissionDenied: .*hidden by skill house, which is in use/);
    assert.equal((await skills.one('datetime {}')).ok, true);
  });

  it('never gives what the rules deny', async () => {
    const { calls } = await skills.turn('use_skill {"name":"house"}\nthen\nexec {"command":"echo x"}', {
      agent: 'no-exec',
    });
    assert.match(calls[1]?.result ?? '', /PermissionDenied: .*deny list/);
  });

  it('PO-4 explain shows what skills in use hide, in a turn and as asked', async () => {
    assert.equal(
      (await skills.publish('words', { visibility: 'public' }, 'allowed-tools: hold\n')).status,
      200,
    );
    const { turn_id: held } = await skills.stack.worker.say(
      'explained',
      'use_skill {"name":"words"}\nthen\nhold {"note":"held-skill"}',
    );
    await skills.stack.worker.probes.untilHeld('held-skill');
    const explain = async (tool: string, context: object) =>
      (await skills.stack.ask('POST', '/v1/explain/tool', { body: { tool, agent: 'main', context } })).body;
    const hidden = await explain('datetime', { session: 'explained' });
    assert.deepEqual([hidden.decision, hidden.step, hidden.rule], ['deny', 'skill_hides', 'words']);
    assert.match(hidden.reason, /hidden by skill words/);
    assert.match(hidden.remedy, /allowed-tools/);
    skills.stack.worker.probes.release('held-skill');
    await skills.stack.worker.ended(held);
    assert.equal((await explain('datetime', { session: 'explained' })).decision, 'allow');
    const inUse = [
      { name: 'a', allowed_tools: ['peek'] },
      { name: 'b', allowed_tools: ['date*'] },
    ];
    assert.equal((await explain('datetime', { skills: inUse })).decision, 'allow');
    assert.equal((await explain('exec', { skills: inUse })).rule, 'a, b');
    const backtest = await skills.stack.ask('POST', '/v1/policy/backtest', { body: {} });
    assert.deepEqual([backtest.status, backtest.body.differ], [200, 0], JSON.stringify(backtest.body));
  });

  it('MC-4 brings in tools of internal servers, unless an agent has written it and nobody agreed', async () => {
    await skills.put(
      'peer.json',
      JSON.stringify({ tools: [{ name: 'poke', description: 'Pokes', inputSchema: { type: 'object' } }] }),
    );
    const args = [
      '--disable-warning=ExperimentalWarning',
      PEER,
      join(skills.folder, 'peer.json'),
      join(skills.folder, 'peer.log'),
    ];
    const server = { name: 'inner', command: process.execPath, args, internal_only: true };
    assert.equal((await skills.stack.ask('POST', '/v1/mcp/servers', { body: server })).status, 201);
    await skills.stack.ask('POST', '/v1/mcp/servers/inner/test', { body: {} });
    const poke = async (name: string, agent = 'main') =>
      (await skills.turn(`use_skill {"name":"${name}"}\nthen\nmcp_inner__poke {}`, { agent })).calls[1];
    assert.equal((await skills.one('mcp_inner__poke {}')).code, 'PermissionDenied');
    const brought = await poke('house');
    assert.equal(brought?.ok, true, brought?.result ?? '');
    assert.match((await poke('house', 'no-exec'))?.result ?? '', /PermissionDenied: .*deny list/);
    await skills.write('main', 'skills/mine/SKILL.md', skillText('mine', 'allowed-tools: mcp_inner__*\n'));
    assert.match((await poke('mine'))?.result ?? '', /PermissionDenied: .*internal|only those have/);
    assert.equal((await skills.one('publish_skill {"path":"skills/mine"}')).ok, true);
    assert.equal((await poke('mine'))?.code, 'PermissionDenied', 'nobody has agreed to it');
    assert.equal(
      (
        await skills.ask('PUT', '/mine', {
          files: [sentFile('SKILL.md', skillText('mine', 'allowed-tools: mcp_inner__*\n'))],
        })
      ).body.version,
      1,
    );
    const agreed = await poke('mine');
    assert.equal(agreed?.ok, true, agreed?.result ?? '');
  });

  it('AP-4 asks first where the rules say so, about these files, and knows that somebody agreed', async () => {
    await skills.write('reviewed', 'skills/safe/SKILL.md', skillText('safe'));
    await skills.write('reviewed', 'skills/safe/run.sh', 'echo good');
    const { turn_id } = await skills.stack.worker.say('review', 'publish_skill {"path":"skills/safe"}', {
      agent: 'reviewed',
    });
    const approve = async (): Promise<Answer['body']> => {
      const id = await skills.stack.worker.approvalOf('review');
      const { body } = await skills.stack.ask('GET', `/v1/approvals/${id}`);
      await skills.stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
      return body;
    };
    const id = await skills.stack.worker.approvalOf('review');
    await skills.write('reviewed', 'skills/safe/run.sh', 'echo evil');
    const first = await approve();
    assert.match(JSON.stringify(first.files), /skills\/safe\/SKILL\.md.*sha256.*"skills\/safe"/);
    const again = await skills.stack.worker.until('it to be asked anew', async () => {
      const now = await skills.stack.worker.approvalOf('review');
      return now === id ? undefined : now;
    });
    assert.notEqual(again, id);
    await approve();
    await skills.stack.worker.ended(turn_id);
    const { body } = await skills.ask('GET', '/safe');
    assert.deepEqual([body.version, body.agreed], [1, true]);
  });
});

describe('TL skills where there are none', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'inspects', model: 'rehearsal/inspect' }] });
  });
  after(() => stack.stop());

  it('tell a model nothing', async () => {
    const say = async (text: string): Promise<string> => {
      const { turn_id } = await stack.worker.say('none', text, { agent: 'inspects' });
      return (await stack.worker.ended(turn_id)).text ?? '';
    };
    assert.doesNotMatch(await say('tools'), /use_skill|skill_search/);
    assert.doesNotMatch(await say('system'), /Skills/);
  });
});
