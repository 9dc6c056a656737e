/** A folder is brought to an installation: a plan, then the change, and nothing the second time (IN-12). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createClient } from '#cli/client.ts';
import { scheduleCreateSchema } from '#features/schedules/schema/schedule.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { planProject } from '../plan.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('IN-12 tempoclaw init and deploy', { timeout: 120_000 }, () => {
  let api: TestApi;
  let parent: string;
  before(async () => {
    api = await startApi();
    parent = mkdtempSync(join(tmpdir(), 'deploy-'));
  });
  after(async () => {
    rmSync(parent, { recursive: true });
    await api.stop();
  });

  function cli(...args: readonly string[]): Promise<Ran> {
    const env = { ...process.env, TEMPOCLAW_URL: api.url, TEMPOCLAW_API_KEY: api.key, NO_COLOR: '1' };
    return new Promise((resolve) => {
      execFile(process.execPath, ['bin/tempoclaw.js', ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      });
    });
  }
  const folder = (): string => join(parent, 'my-agents');
  const deployed = async (...more: readonly string[]) => {
    const { code, stdout, stderr } = await cli('deploy', folder(), '--json', ...more);
    assert.equal(code, 0, stderr);
    const { changes, applied } = JSON.parse(stdout);
    const words = changes.map((one: { action: string; kind: string; name: string; fields: string[] }) =>
      [one.action, one.kind, one.name, ...one.fields].join(' '),
    );
    return { words, applied };
  };

  it('make a folder, which is refused when there is something in it', async () => {
    const made = await cli('init', folder());
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /Next: npx tempoclaw dev .*my-agents/);
    const again = await cli('init', folder());
    assert.equal(again.code, 1);
    assert.match(again.stderr, /is not empty/);
  });

  it('refuse a folder that cannot be made, or has nothing to deploy, as one with a wrong name', async () => {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    for (const name of [file, join(file, 'below')]) {
      const made = await cli('init', name);
      assert.equal(made.code, 1);
      assert.match(made.stderr, /cannot be made: ENOTDIR/);
      assert.doesNotMatch(made.stderr, / at /);
    }
    const empty = await cli('deploy', folder(), '--yes', '--rollout', '');
    assert.equal(empty.code, 2);
    assert.match(empty.stderr, /It is a number from 0 to 100/);
    const none = await cli('deploy', join(parent, 'none'), '--yes');
    assert.equal(none.code, 1);
    assert.match(none.stderr, /none has no agents\//);
  });

  it('name what could not be changed', async () => {
    mkdirSync(join(parent, 'late/schedules'), { recursive: true });
    writeFileSync(join(parent, 'late/schedules/over.md'), '---\nat: 2020-01-01T00:00:00Z\n---\nx');
    const { code, stderr } = await cli('deploy', join(parent, 'late'), '--yes');
    assert.equal(code, 1);
    assert.match(stderr, /schedule over: at: 2020-01-01T00:00:00.* is over/);
  });

  it('show what would change, and change it once', async () => {
    const all = ['create tool refund', 'create skill refunds', 'create agent shop'];
    assert.deepEqual(await deployed('--plan'), { words: all, applied: false });
    assert.equal((await api.ask('GET', '/v1/agents/shop')).status, 404);
    const unasked = await cli('deploy', folder());
    assert.equal(unasked.code, 1);
    assert.match(unasked.stderr, /Nobody can be asked here/);
    assert.deepEqual(await deployed('--yes'), { words: all, applied: true });
    assert.deepEqual(await deployed('--yes'), { words: [], applied: false });
    const { body } = await api.ask('GET', '/v1/agents/shop');
    assert.match(body.instructions, /customers of a shop/);
    const host = await api.ask('GET', '/v1/tool-hosts/my-agents');
    assert.partialDeepStrictEqual(host.body.tools, [
      { name: 'refund', approval: true, probes: true, revision: 1 },
    ]);
  });

  it('change what differs, and take away what a file no longer says', async () => {
    await api.ask('PATCH', '/v1/agents/shop', { body: { limits: { iterations: 3 } } });
    writeFileSync(join(folder(), 'agents/shop.md'), '---\nmodel: rehearsal/echo\n---\nYou help.\n');
    writeFileSync(join(folder(), 'skills/refunds/more.md'), 'More.');
    writeFileSync(join(folder(), 'schedules.md'), 'beside');
    assert.deepEqual((await deployed('--yes')).words, [
      'change skill refunds more.md',
      'change agent shop model instructions limits',
    ]);
    const { body } = await api.ask('GET', '/v1/agents/shop');
    assert.deepEqual(
      [body.model, body.instructions, body.limits ?? null],
      ['rehearsal/echo', 'You help.', null],
    );
  });

  it('make its hooks those of its agents, and take them away', async () => {
    const file = join(folder(), 'hooks/no_late_refunds.ts');
    mkdirSync(join(folder(), 'hooks'));
    const hook = (fields: string): string =>
      `import { hook } from 'tempoclaw';\nexport default hook({ event: 'pre_tool_use', ${fields} run: () => ({ decision: 'ask' }) });\n`;
    writeFileSync(file, hook(`tools: ['refund'], agents: ['nobody'],`));
    const wrong = await cli('deploy', folder(), '--yes');
    assert.match(wrong.stderr, /hooks\/no_late_refunds\.ts: there is no agents\/nobody\.md/);
    writeFileSync(file, hook(`tools: ['refund'],`));
    assert.deepEqual((await deployed('--yes')).words, [
      'create hook no_late_refunds',
      'change agent shop hooks',
    ]);
    const { body } = await api.ask('GET', '/v1/agents/shop');
    const code = 'my-agents/no_late_refunds';
    assert.deepEqual(body.hooks, [{ event: 'pre_tool_use', tools: ['refund'], type: 'code', code }]);
    writeFileSync(file, hook(`tools: ['refund'], timeout: 2,`));
    assert.deepEqual((await deployed('--yes')).words, [
      'change hook no_late_refunds timeout_seconds hash',
      'change agent shop hooks',
    ]);
    assert.deepEqual((await deployed('--yes')).words, []);
    rmSync(file);
    assert.deepEqual((await deployed('--yes')).words, [
      'remove hook no_late_refunds',
      'change agent shop hooks',
    ]);
  });

  it('DU-10 give a changed agent to a share of the users first, and change nothing once it is finished', async () => {
    writeFileSync(join(folder(), 'agents/shop.md'), '---\nmodel: rehearsal/echo\n---\nYou help a lot.\n');
    const change = ['change agent shop instructions'];
    assert.deepEqual(await deployed('--yes', '--rollout', '10'), { words: change, applied: true });
    assert.equal((await api.ask('GET', '/v1/agents/shop')).body.instructions, 'You help.');
    const { body } = await api.ask('GET', '/v1/rollouts/shop');
    assert.deepEqual([body.share, body.revision - body.base], [10, 1]);
    const again = await cli('deploy', folder(), '--yes');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /is in a rollout \(10 %\): finish it or put it back/);
    assert.equal((await api.ask('POST', '/v1/rollouts/shop/finish', { body: {} })).status, 200);
    assert.deepEqual(await deployed('--yes'), { words: [], applied: false });
  });

  it('overwrite nothing that somebody else has changed since the plan was shown', async () => {
    const client = createClient({
      url: api.url,
      key: api.key,
      socket: undefined,
      source: 'a test',
      run: undefined,
    });
    const skill = (name: string, text: string) => ({
      name,
      files: [
        {
          path: 'SKILL.md',
          content: btoa(`---\nname: ${name}\ndescription: For a test.\n---\n${text}\n`),
        },
      ],
    });
    const schedule = (message: string) =>
      scheduleCreateSchema.parse({
        name: 'planned',
        agent: 'shop',
        message,
        schedule: { kind: 'every', every_seconds: 3600 },
      });
    const plan = (skills: string[], text: string) =>
      planProject(client, {
        agents: [],
        skills: skills.map((name) => skill(name, text)),
        schedules: [schedule(text)],
        problems: [],
      });
    for (const change of await plan(['old'], 'First.')) await change.apply?.();
    const planned = await plan(['old', 'new'], 'Planned.');
    assert.deepEqual(
      planned.map(({ action, kind, name }) => [action, kind, name].join(' ')),
      ['change skill old', 'create skill new', 'change schedule planned'],
    );
    for (const change of await plan(['old', 'new'], 'By somebody else.')) await change.apply?.();
    for (const { apply } of planned)
      await assert.rejects(apply?.() ?? Promise.resolve(), { code: 'Conflict' });
    assert.deepEqual(await plan(['old', 'new'], 'By somebody else.'), []);
  });

  it('take a folder without tools', async () => {
    const other = join(parent, 'others');
    mkdirSync(join(other, 'agents'), { recursive: true });
    writeFileSync(join(other, 'agents/lonely.md'), '---\nmodel: rehearsal/echo\n---\n');
    const { code, stdout } = await cli('deploy', other, '--yes');
    assert.deepEqual([code, stdout], [0, '+ agent lonely\n1 changes applied\n']);
  });

  it('refuse a folder with features that the installation does not have, or that are wrong', async () => {
    const other = join(parent, 'featured');
    const manifest = join(other, 'features/notes/feature.ts');
    mkdirSync(join(other, 'features/notes'), { recursive: true });
    writeFileSync(manifest, "export default { name: 'notes', summary: 'Notes.' };");
    const missing = await cli('deploy', other, '--yes');
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /The installation does not have the feature notes\.\n.*TEMPOCLAW_FEATURES/s);
    writeFileSync(manifest, "export default { name: 'notes' };");
    const wrong = await cli('deploy', other, '--yes');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /features\/notes: it needs a summary/);
  });

  it('change nothing when a file is wrong, and name it', async () => {
    writeFileSync(join(folder(), 'agents/bad.md'), 'no front matter');
    writeFileSync(join(folder(), 'tools/other.ts'), 'export default 1;');
    const { code, stderr } = await cli('deploy', folder(), '--yes');
    assert.equal(code, 1);
    assert.match(stderr, /agents\/bad\.md:1: /);
    assert.match(stderr, /tools\/other\.ts: its default export/);
    assert.equal((await api.ask('GET', '/v1/agents/bad')).status, 404);
  });
});
