/**
 * Without any one feature, the rest starts and works: its tables, its API, its commands and a turn in a worker. A run takes
 * a share of the features, chosen anew; TEST_SHARE=100 takes all.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { commandsOf } from '#cli/commands.ts';
import { type Feature, inOrderOfNeed } from '#domain/feature.ts';
import { FEATURES } from '#features';
import { loadCatalog } from '#policy/catalog.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { startStack } from '#test/support/stack.ts';
import { createTemplate } from '#test/support/test-database.ts';

/** Percent of the features. */
const SHARE = Number(process.env['TEST_SHARE'] ?? 25);

interface Document {
  readonly paths: Readonly<Record<string, unknown>>;
}

/** What the build offers with these features. */
async function offered(features: readonly Feature[]) {
  const tools = (await loadCatalog(features)).list().map(({ name }) => name);
  return { tools, commands: commandsOf(features).map(({ name }) => name) };
}

/** Features whose routes are described elsewhere, and not in the OpenAPI document. */
const PROTOCOLS: ReadonlySet<string> = new Set([
  'a2a',
  'ag-ui',
  'langgraph',
  'mcp-server',
  'oidc',
  'openai-api',
  'ui-stream',
]);

const whole = await offered(FEATURES);
const chance = createChance(seedOfRun());
console.log(`seed ${chance.seed} (TEST_SEED repeats it)`);

describe('a build without a feature', { timeout: 900_000 }, () => {
  let paths: readonly string[] = [];

  /** Starts it, has a turn run a command and write a file, and forgets the session. */
  async function works(features: readonly Feature[]): Promise<readonly string[]> {
    const server = process.env['TEST_DATABASE_URL'] ?? assert.fail('run it by npm run test:system');
    const database = await createTemplate(server, features);
    const tenant = `t${randomBytes(5).toString('hex')}`;
    const stack = await startStack({ features, beside: { tenant, databaseUrl: database.url } });
    try {
      const { body: document } = await stack.ask('GET', '/openapi.json');
      const text = 'write_file {"path":"note.txt","content":"kept"}';
      const sent = await stack.ask('POST', '/v1/sessions/a/messages', { body: { text } });
      assert.equal(sent.status, 202, JSON.stringify(sent.body));
      const turn = await stack.worker.ended(sent.body.turn_id);
      assert.equal(turn.status, 'completed', JSON.stringify(turn.error));
      const calls = await stack.worker.calls(turn.id);
      assert.deepEqual(
        calls.map(({ tool, ok }) => [tool, ok]),
        [['write_file', true]],
      );
      const { body: forgetting } = await stack.ask('DELETE', '/v1/sessions/a');
      await stack.worker.until('the session to be forgotten', async () => {
        const { body } = await stack.ask('GET', `/v1/forgettings/${forgetting.id}`);
        return body.status === 'done' ? true : undefined;
      });
      return Object.keys((document as Document).paths);
    } finally {
      await stack.stop();
      await database.drop();
    }
  }

  it('has all that a whole one offers in the whole one', async () => {
    paths = await works(FEATURES);
    assert.ok(paths.length > 100);
  });

  for (const feature of FEATURES.filter(() => chance.between(1, 100) <= SHARE))
    it(`works without ${feature.name}, and has nothing of it`, async () => {
      const rest = inOrderOfNeed(FEATURES.filter((one) => one !== feature));
      const gone = FEATURES.filter((one) => !rest.includes(one));
      const { tools, commands } = await offered(rest);
      const own = await offered(gone);
      const none = await offered([]);
      const isGone = (kind: 'tools' | 'commands') => (name: string) =>
        own[kind].includes(name) && !none[kind].includes(name);
      for (const [kind, remaining] of Object.entries({ tools, commands } as const)) {
        const isOut = isGone(kind as 'tools' | 'commands');
        assert.deepEqual(
          remaining.toSorted(),
          whole[kind as 'tools' | 'commands'].filter((name) => !isOut(name)).toSorted(),
        );
      }
      const pending = await works(rest);
      const areDescribed = gone.some(({ name, routes }) => routes !== undefined && !PROTOCOLS.has(name));
      assert.equal(pending.length < paths.length, areDescribed);
      assert.deepEqual(
        pending.filter((path) => !paths.includes(path)),
        [],
      );
    });

  it('works without any', async () => {
    const remaining = await works([]);
    assert.ok(remaining.includes('/v1/sessions/{key}/messages'));
  });
});
