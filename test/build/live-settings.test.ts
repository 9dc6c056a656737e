/** Which settings are applied while a process runs, and what is shown of them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadConfig } from '#config';
import { createLiveSettings } from '#config/live-settings.ts';
import { Failure } from '#domain/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-live-settings-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(yaml: string): void {
  writeFileSync(join(folder, 'tempoclaw.yaml'), yaml);
}

function open(yaml: string) {
  write(yaml);
  const load = () => loadConfig({ cwd: folder, env: { HOME: folder, XDG_CONFIG_HOME: folder } });
  return createLiveSettings(load(), load);
}

describe('settings that are read again', () => {
  it('what is looked at each time changes in the objects that parts hold; the rest needs a restart', () => {
    const live = open(
      'tools: { deny: [exec], rate_limit_per_hour: 5 }\nhooks: []\nmodels: { default: rehearsal/echo }\n',
    );
    const { tools, hooks, models, budgets } = live.config;
    write(
      [
        'tools: { also_allow: [cron], rate_limit_per_hour: 6 }',
        'hooks: [{ event: session_start, type: command, command: "true" }]',
        'models: { default: rehearsal/loop, prices: { a/b: { input: 1, output: 2 } }, idleTimeoutSeconds: 5 }',
        'budgets: [{ scope: tenant, usd: 1 }]',
        'api: { port: 7401 }',
      ].join('\n'),
    );
    const reloaded = live.reload();
    assert.deepEqual(reloaded.applied.toSorted(), [
      'budgets',
      'hooks',
      'models.default',
      'models.prices',
      'tools.also_allow',
      'tools.deny',
    ]);
    assert.deepEqual(reloaded.restart.toSorted(), [
      'api.port',
      'models.idleTimeoutSeconds',
      'tools.rate_limit_per_hour',
    ]);
    assert.deepEqual([tools.deny, tools.also_allow, tools.rate_limit_per_hour], [undefined, ['cron'], 5]);
    assert.deepEqual([hooks.length, budgets.length], [1, 1]);
    assert.deepEqual([models.default, models.idleTimeoutSeconds], ['rehearsal/loop', 60]);
    assert.equal(live.config.api.port, 7400);
    // What still waits for a restart is reported each time.
    assert.deepEqual(live.reload().restart.toSorted(), reloaded.restart.toSorted());
    assert.deepEqual(live.reload().applied, []);
  });

  it('settings that cannot be used are refused whole, with what is wrong and where', () => {
    const live = open('tools: { deny: [exec] }\n');
    for (const [yaml, words] of [
      ['tools: { deny: [] }\nmodels: { default: nothing }\n', /tempoclaw\.yaml.*models\.default/s],
      ['tools: { deny: [] }\nmodels: { default: nobody/model }\n', /not configured/],
      ['tools: { deny: []\n', /tempoclaw\.yaml/],
    ] as const) {
      write(yaml);
      assert.throws(
        () => live.reload(),
        (error) => error instanceof Failure && error.type === 'Unprocessable' && words.test(error.message),
      );
      assert.deepEqual(live.config.tools.deny, ['exec']);
    }
  });

  it('a model of a provider that this process does not have is refused until it is started again', () => {
    const provider = (name: string) =>
      `${name}: { type: openai-compatible, baseUrl: "http://127.0.0.1:1/v1" }`;
    const live = open(`models: { vision: [away/one], providers: { ${provider('old')} } }\n`);
    const read = (settings: string): void =>
      write(`models: { ${settings}, providers: { ${provider('old')}, ${provider('new')} } }\n`);
    for (const [name, settings] of [
      ['default', 'default: new/a'],
      ['embedding', 'default: old/b, embedding: new/a'],
      ['vision', 'default: old/b, vision: [old/a, new/a]'],
      ['transcription', 'default: old/b, transcription: new/a'],
    ] as const) {
      read(settings);
      assert.throws(
        () => live.reload(),
        (error) =>
          error instanceof Failure &&
          error.message.includes(`models.${name}: this process has no provider for new/a`),
      );
      assert.equal(live.config.models.default, undefined);
    }
    read('default: old/b, vision: [away/one, rehearsal/says]');
    assert.deepEqual(live.reload().applied.toSorted(), ['models.default', 'models.vision']);
  });

  it('what a provider serves in place of all others may have any name', () => {
    const provider = 'embedding: { type: openai-compatible, baseUrl: "http://127.0.0.1:1/v1" }';
    const live = open(`models: { embedding: local/a, providers: { ${provider} } }\n`);
    write(`models: { embedding: local/b, providers: { ${provider} } }\n`);
    assert.deepEqual(live.reload(), { applied: ['models.embedding'], restart: [] });
  });

  it('no secret is shown', () => {
    const live = open(
      [
        'database: { url: "postgres://me:canary-db@db:5432/x?sslpassword=canary-query" }',
        'models: { providers: { openai: { apiKey: canary-openai } } }',
        `encryption: { key: "${Buffer.from(Array.from({ length: 32 }, (_, at) => (at * 37 + 11) % 256)).toString('base64')}" }`,
        'approvals: { decisionToken: { secret: canary-canary-canary-canary-canary } }',
        'web: { search: { json: { url: "https://s.example/?q={query}", results: items, headers: { x-key: canary-header }, fields: { title: t, url: u } } } }',
        'mcp: { servers: { files: { command: npx, args: [--token=canary-arg], env: { TOKEN: canary-env } } } }',
      ].join('\n'),
    );
    const shown = JSON.stringify(live.shown(''));
    assert.doesNotMatch(shown, /canary/);
    assert.doesNotMatch(shown, new RegExp(live.config.encryption.key?.slice(0, 10) ?? 'none'));
    assert.equal(live.shown('database.url'), 'postgres://db:5432/x');
    assert.equal(live.shown('models.providers.openai.apiKey'), 'set');
    assert.equal(live.shown('api.port'), 7_400);
    for (const path of ['api.nothing', 'api.port.more', '__proto__', 'tools.constructor'])
      assert.equal(live.shown(path), undefined);
  });
});
