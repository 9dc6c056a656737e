/** use_skill and publish_skill: texts, folders, versions and rights, and what is refused. */
import assert from 'node:assert/strict';
import { readFile, rm, symlink } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { type SkillStack, skillText, startSkillStack } from '#test/support/skills.ts';

const INSTALLED = {
  'house/SKILL.md': skillText('house', 'allowed-tools: peek, exec\n', 'The rules of the house.'),
  'house/scripts/say.sh': 'echo "from $(cat scripts/word.txt)"\n',
  'house/scripts/word.txt': 'the house',
  'house/.env': 'HIDDEN=1',
  'plain/SKILL.md': skillText('plain'),
  'broken/SKILL.md': '# no front matter',
};
const EXEC = { security: 'full', ask: 'off' } as const;

describe('TL use_skill and publish_skill', () => {
  let skills: SkillStack;
  before(async () => {
    const agents = [
      { key: 'main', exec: EXEC },
      { key: 'reviewed' },
      { key: 'inspects', model: 'rehearsal/inspect' },
    ];
    skills = await startSkillStack({ agents }, INSTALLED);
  });
  after(() => skills.stop());

  it('gives the text of one, says where it is from, and puts its folder where commands find it', async () => {
    const { calls } = await skills.turn(
      'use_skill {"name":"house","params":{"room":"bath"}}\nthen\nexec {"command":"sh scripts/say.sh","working_dir":".skills/house"}',
    );
    assert.match(calls[0]?.result ?? '', /^\[skill house, of this installation\]/);
    assert.match(calls[0]?.result ?? '', /\.skills\/house: SKILL\.md, scripts\/say\.sh, scripts\/word\.txt/);
    assert.match(calls[0]?.result ?? '', /Parameters: \{"room":"bath"\}\n\nThe rules of the house\.$/);
    assert.match(calls[1]?.result ?? '', /from the house/);
    assert.match(
      (await skills.one('use_skill {"name":"hause"}')).result ?? '',
      /NotFound: .*did you mean house/,
    );
  });

  it('puts scripts that begin with #! there so that commands can start them', async () => {
    await skills.write('main', 'skills/starts/SKILL.md', skillText('starts'));
    await skills.write('main', 'skills/starts/run.sh', '#!/bin/sh\necho "it runs"\n');
    const { calls } = await skills.turn(
      'publish_skill {"path":"skills/starts"}\nthen\nuse_skill {"name":"starts"}\nthen\nexec {"command":".skills/starts@1/run.sh; test -x .skills/starts@1/SKILL.md || echo plain"}',
    );
    assert.match(calls[2]?.result ?? '', /it runs\nplain/);
  });

  it('publishes files that are six folders deep, and no deeper ones', async () => {
    await skills.write('main', 'skills/deep/SKILL.md', skillText('deep'));
    await skills.write('main', 'skills/deep/1/2/3/4/5/6/most.txt', 'six');
    assert.match(
      (await skills.one('publish_skill {"path":"skills/deep"}')).result ?? '',
      /^deep is published as version 1/,
    );
    await skills.write('main', 'skills/deep/1/2/3/4/5/6/7/more.txt', 'seven');
    assert.match(
      (await skills.one('publish_skill {"path":"skills/deep"}')).result ?? '',
      /more\.txt is more than 6 folders deep/,
    );
  });

  it('puts back what an agent has made of an unpacked folder, and follows no link in it', async () => {
    await skills.write('main', '.skills/house/scripts/word.txt', 'a forgery');
    assert.equal((await skills.one('use_skill {"name":"house"}')).ok, true);
    assert.equal(await readFile(skills.own('main', '.skills/house/scripts/word.txt'), 'utf8'), 'the house');
    await rm(skills.own('main', '.skills/house/scripts'), { recursive: true });
    await symlink(skills.folder, skills.own('main', '.skills/house/scripts'));
    assert.match((await skills.one('use_skill {"name":"house"}')).result ?? '', /^InvalidPath/);
    await rm(skills.own('main', '.skills/house/scripts'));
  });

  it('publishes a folder once a content, with where it is from, for the user alone', async () => {
    await skills.write('main', 'skills/tea/SKILL.md', skillText('tea'));
    await skills.write('main', 'skills/tea/leaves/green.txt', 'green');
    const line = 'publish_skill {"path":"skills/tea"}';
    assert.match(
      (await skills.one(line, { user: 'ann' })).result ?? '',
      /^tea is published as version 1 \(private, 2 files\)/,
    );
    assert.match((await skills.one(line, { user: 'ann' })).result ?? '', /^tea is what it was: version 1/);
    await skills.write('main', 'skills/tea/leaves/green.txt', 'greener');
    const two = await skills.turn(line, { user: 'ann' });
    assert.match(two.calls[0]?.result ?? '', /version 2/);
    const { body } = await skills.ask('GET', '/tea');
    assert.deepEqual(
      [body.owner, body.visibility, body.turn_id, body.call_id, body.agreed],
      ['user:ann', 'private', two.id, two.calls[0]?.id, false],
    );
    assert.deepEqual(
      (await skills.ask('GET', '/tea/versions')).body.data.map((row: { version: number }) => row.version),
      [2, 1],
    );
    const used = await skills.one('use_skill {"name":"tea"}', { user: 'ann', agent: 'reviewed' });
    assert.match(used.result ?? '', /version 2, published by user ann, by agent main/);
    assert.equal(await readFile(skills.own('reviewed', '.skills/tea@2/leaves/green.txt'), 'utf8'), 'greener');
  });

  it("hides another user's private skill until there is a grant, and lets nobody else publish its name", async () => {
    const use = async (input: object) =>
      (await skills.one('use_skill {"name":"tea"}', { agent: 'reviewed', ...input })).code;
    assert.deepEqual([await use({ user: 'bob' }), await use({})], ['NotFound', 'NotFound']);
    assert.match(
      (await skills.one('skill_search {"query":"tea"}', { user: 'bob', agent: 'reviewed' })).result ?? '',
      /No skill/,
    );
    assert.equal((await skills.ask('PUT', '/tea/grants/user/bob', {})).status, 200);
    assert.equal(await use({ user: 'bob' }), null);
    assert.equal((await skills.ask('DELETE', '/tea/grants/user/bob')).status, 204);
    assert.equal(await use({ user: 'bob' }), 'NotFound');
    const theirs = await skills.one('publish_skill {"path":"skills/tea","visibility":"public"}', {
      user: 'bob',
    });
    assert.match(theirs.result ?? '', /PermissionDenied: another has published a skill tea/);
    const other = await skills.stack.makeTenant();
    assert.equal((await skills.stack.ask('GET', '/v1/skills/tea', { key: other.key })).status, 404);
    assert.deepEqual((await skills.stack.ask('GET', '/v1/skills', { key: other.key })).body.data, []);
  });

  it('refuses folders with links, secrets, too much in them, and names of the installation', async () => {
    const refused = async (path: string): Promise<string> =>
      (await skills.one(`publish_skill {"path":"${path}"}`)).result ?? '';
    await skills.write('main', 'skills/linked/SKILL.md', skillText('linked'));
    await symlink('/etc/passwd', skills.own('main', 'skills/linked/passwd'));
    assert.match(await refused('skills/linked'), /InvalidArgs: passwd is a link/);
    assert.match(await refused('../../..'), /^InvalidPath/);
    assert.match(await refused('skills'), /InvalidArgs/);
    await skills.write(
      'main',
      'skills/leaky/SKILL.md',
      skillText('leaky', '', `token ghp_${'a1B2'.repeat(9)}`),
    );
    assert.match(await refused('skills/leaky'), /SKILL\.md holds a secret/);
    await skills.write('main', 'skills/large/SKILL.md', skillText('large'));
    await skills.write('main', 'skills/large/data.bin', 'x'.repeat(1_048_577));
    assert.match(await refused('skills/large'), /data\.bin is too large/);
    for (let at = 0; at < 101; at += 1) await skills.write('main', `skills/many/f${at}.txt`, 'x');
    assert.match(await refused('skills/many'), /more than 100 files/);
    await skills.write('main', 'skills/house/SKILL.md', skillText('house', '', 'Other rules.'));
    assert.match(await refused('skills/house'), /house is a skill of this installation/);
    assert.match((await skills.one('use_skill {"name":"house"}')).result ?? '', /The rules of the house/);
  });

  it("names in no other's prompt what an agent has made public and nobody has agreed to", async () => {
    await skills.write('main', 'skills/loud/SKILL.md', skillText('loud'));
    const line = 'publish_skill {"path":"skills/loud","visibility":"public"}';
    const made = await skills.one(line, { user: 'ann' });
    assert.equal(made.ok, true, made.result ?? '');
    const bobs = { agent: 'inspects', user: 'bob' };
    const prompt = async (): Promise<string> => (await skills.turn('system', bobs)).text;
    assert.doesNotMatch(await prompt(), /loud/);
    assert.match(await prompt(), /find them with skill_search/);
    const used = await skills.one('use_skill {"name":"loud"}', { agent: 'reviewed', user: 'bob' });
    assert.equal(used.ok, true);
    await skills.publish('loud', { visibility: 'public' });
    assert.match(await prompt(), /- loud: Knows loud/);
  });

  it('publishes one version when two do at once', async () => {
    await skills.write('main', 'skills/twin/SKILL.md', skillText('twin'));
    const line = 'publish_skill {"path":"skills/twin"}';
    await skills.turn(`${line}\n${line}\n${line}`);
    await Promise.all([skills.turn(line), skills.turn(line)]);
    assert.equal((await skills.ask('GET', '/twin/versions')).body.data.length, 1);
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, at) => skills.publish('race', {}, `license: L${at}\n`)),
    );
    assert.deepEqual(
      answers.map(({ body }) => body.is_new),
      [true, true, true, true],
    );
    assert.deepEqual(
      (await skills.ask('GET', '/race/versions')).body.data.map((row: { version: number }) => row.version),
      [4, 3, 2, 1],
    );
  });

  it('forgets a skill that is removed, and counts on when it comes again', async () => {
    await skills.publish('gone', { visibility: 'public' });
    assert.equal((await skills.one('use_skill {"name":"gone"}')).ok, true);
    assert.equal((await skills.ask('DELETE', '/gone')).status, 204);
    assert.equal((await skills.one('use_skill {"name":"gone"}')).code, 'NotFound');
    assert.deepEqual(
      [(await skills.ask('GET', '/gone')).status, (await skills.ask('DELETE', '/gone')).status],
      [404, 404],
    );
    const { body } = await skills.publish('gone', {}, 'license: MIT\n');
    assert.deepEqual([body.version, body.visibility], [2, 'private']);
  });
});
