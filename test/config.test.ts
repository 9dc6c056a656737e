import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, describe, test } from 'node:test';
import pg from 'pg';
import {
  type Config,
  ConfigError,
  type ConfigFlags,
  describe as describeConfig,
  deploymentValues,
  loadConfig,
  preflight,
} from '#config';

const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-config-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const KEY = Buffer.from(Array.from({ length: 32 }, (_, i) => (i * 37 + 11) % 256)).toString('base64');

function load(
  options: { yaml?: string; env?: Record<string, string>; flags?: ConfigFlags } = {},
): Readonly<Config> {
  writeFileSync(join(folder, 'tempoclaw.yaml'), options.yaml ?? '');
  // The folder has no temporal.toml, whatever this machine has.
  return loadConfig({
    cwd: folder,
    env: { HOME: folder, XDG_CONFIG_HOME: folder, ...options.env },
    flags: options.flags ?? {},
  });
}

function problemsOf(options: Parameters<typeof load>[0]): readonly string[] {
  try {
    load(options);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
  return assert.fail('the settings were accepted');
}

describe('settings', () => {
  test('without anything the defaults hold and folders are absolute', () => {
    const config = load();
    assert.equal(config.api.port, 7400);
    assert.equal(config.api.host, '127.0.0.1');
    assert.equal(config.temporal.taskQueue, 'tempoclaw');
    assert.equal(config.temporal.address, undefined);
    assert.equal(config.stateDir, join(folder, '.tempoclaw'));
    assert.equal(config.workspaceRoot, join(folder, '.tempoclaw', 'workspaces'));
    assert.deepEqual(config.models.providers, {});
  });

  test('flags win over the environment, the environment over the file, the file over defaults', () => {
    const yaml = 'api:\n  port: 1001\n  host: 127.0.0.2\nworker:\n  maxCachedWorkflows: 7\n';
    assert.equal(load({ yaml }).api.port, 1001);
    assert.equal(load({ yaml, env: { TEMPOCLAW_PORT: '1002' } }).api.port, 1002);
    const all = load({ yaml, env: { TEMPOCLAW_PORT: '1002' }, flags: { port: 1003 } });
    assert.equal(all.api.port, 1003);
    assert.equal(all.api.host, '127.0.0.2');
    assert.equal(all.worker.maxCachedWorkflows, 7);
    assert.equal(all.worker.maxConcurrentActivities, 100);
  });

  test('the settings cannot be changed by the parts that get them', () => {
    const config = load();
    assert.throws(() => Object.assign(config.api, { port: 1 }), TypeError);
  });

  test('the shipped example is accepted and changes nothing', () => {
    const yaml = readFileSync(new URL('../tempoclaw.example.yaml', import.meta.url), 'utf8');
    const { file: _file, ...example } = load({ yaml });
    const { file: _none, ...defaults } = load();
    assert.deepEqual(example, defaults);
  });
});

describe('TL the settings of web_search', () => {
  test('come from the variables that its engines are known by, and its keys are hidden', () => {
    const yaml = `web:
  search:
    order: [json, brave]
    json:
      url: http://find.internal/api?q={query}
      headers: { accept: application/json, x-key: a-key-of-the-engine }
`;
    const env = { BRAVE_API_KEY: 'brave-key-123456', SEARXNG_BASE_URL: 'http://searx.internal:8080' };
    const config = load({ yaml, env });
    assert.deepEqual(config.web.search.brave, { apiKey: 'brave-key-123456' });
    assert.deepEqual(config.web.search.searxng, { baseUrl: 'http://searx.internal:8080' });
    assert.deepEqual(config.web.search.json?.fields, { title: 'title', url: 'url', snippet: 'snippet' });
    assert.deepEqual(deploymentValues(config), ['brave-key-123456', 'a-key-of-the-engine']);
    const secret = load({ env: { BRAVE_API_KEY: 'secret://brave' } });
    assert.deepEqual(deploymentValues(secret), []);
  });

  test('are refused where no query could be put in', () => {
    const [problem] = problemsOf({ yaml: 'web: { search: { json: { url: "http://find.internal/" } } }\n' });
    assert.match(
      problem ?? '',
      /web\.search\.json\.url: must be an http:\/\/ or https:\/\/ URL with \{query\}/,
    );
  });
});

describe('PO-1 the settings of mails', () => {
  test('come from SMTP_URL, whose password is hidden, and are refused where they cannot be meant', () => {
    const env = {
      SMTP_URL: 'smtp://claw:p%40ssw0rd-of-mail@mail.internal',
      TEMPOCLAW_MAIL_FROM: 'c@example.com',
    };
    const config = load({ env });
    assert.deepEqual(config.mail, { url: env.SMTP_URL, from: 'c@example.com' });
    assert.deepEqual(deploymentValues(config), ['p@ssw0rd-of-mail']);
    assert.ok(!describeConfig(config).join('\n').includes('ssw0rd'));
    for (const url of [
      'https://mail.internal',
      'smtp://',
      'smtp://mail.internal/x',
      'smtp://mail.internal?tls=maybe',
      'smtps://mail.internal?tls=none',
      'smtp://claw:100%@mail.internal',
    ]) {
      const [problem = ''] = problemsOf({ env: { SMTP_URL: url } });
      assert.match(problem, /^SMTP_URL.*must be smtp:\/\/user:password@host:587/);
      assert.ok(!problem.includes('100%'));
    }
    const sender = problemsOf({ env: { TEMPOCLAW_MAIL_FROM: 'c@example.com\r\nBcc: e@example.com' } });
    assert.equal(sender.length, 1);
  });
});

describe('TL the settings of media', () => {
  test('come from the variables that its providers are known by, and their keys are hidden', () => {
    const env = { ELEVENLABS_API_KEY: 'eleven-key-123456', EDGE_TTS_BASE_URL: 'http://edge.internal:8080' };
    const yaml = 'media: { image: [google/x, openai/y], prices: { openai/y: { usd: 1, per: piece } } }\n';
    const { media, ...config } = load({ yaml, env });
    assert.deepEqual(media, {
      image: ['google/x', 'openai/y'],
      prices: { 'openai/y': { usd: 1, per: 'piece' } },
      elevenlabs: { apiKey: 'eleven-key-123456' },
      edge: { baseUrl: 'http://edge.internal:8080' },
    });
    assert.deepEqual(deploymentValues({ ...config, media }), ['eleven-key-123456']);
  });

  test('are refused where nobody makes it', () => {
    const [problem] = problemsOf({ yaml: 'media: { image: [nobody/x] }\n' });
    assert.match(
      problem ?? '',
      /media\.image\[?\.?0\]?: must be provider\/model, the provider one of openai,/,
    );
  });
});

describe('refused settings', () => {
  test('an unknown key is named with line and column and the keys that are allowed there', () => {
    const [problem, ...more] = problemsOf({ yaml: 'api:\n  port: 7400\n  prot: 1\n' });
    assert.deepEqual(more, []);
    assert.match(
      problem ?? '',
      /^tempoclaw\.yaml:3:3: api\.prot: unknown key; allowed here: host, port, publicUrl/,
    );
  });

  test('a key that another system has for it is refused with what to write', () => {
    const yaml = 'tools:\n  mcp_servers: { a: { command: x } }\n  web_search: { endpoint: "http://x" }\n';
    const [servers, search] = problemsOf({ yaml });
    assert.match(servers ?? '', /^tempoclaw\.yaml:2:3: tools\.mcp_servers: unknown key; write mcp\.servers/);
    assert.match(search ?? '', /^tempoclaw\.yaml:3:3: tools\.web_search: unknown key; write web\.search/);
    assert.match(problemsOf({ yaml: 'tools:\n  alow: [exec]\n' })[0] ?? '', /allowed here: profile, allow/);
    const { subagents } = load({ yaml: 'subagents: { maxSpawnDepth: 2, maxChildrenPerAgent: 7 }\n' });
    assert.deepEqual([subagents.maxDepth, subagents.maxChildren], [2, 7]);
  });

  test('a wrong value is named with its line, its variable or its flag', () => {
    assert.match(
      problemsOf({ yaml: 'api:\n  port: high\n' })[0] ?? '',
      /^tempoclaw\.yaml:2:9: api\.port: .*number/,
    );
    assert.match(problemsOf({ env: { TEMPOCLAW_PORT: '70000' } })[0] ?? '', /^TEMPOCLAW_PORT: api\.port: /);
    assert.match(problemsOf({ flags: { logLevel: 'loud' } })[0] ?? '', /^--log-level: log\.level: .*"debug"/);
  });

  test('every problem is told at once', () => {
    const problems = problemsOf({ yaml: 'api:\n  port: high\nnonsense: 1\n', env: { LOG_LEVEL: 'loud' } });
    assert.equal(problems.length, 3);
  });

  test('PO-2 a profile, group or category that does not exist is refused with the line it stands on', () => {
    const yaml = `tools:
  profile: codding
  allow:
    - exec
    - group:nope
  by_provider:
    x: { profile: bad }
  rules:
    - { tool: "group:zzz", decision: deny }
exec:
  categories: { denied_path: false }
`;
    const starts = problemsOf({ yaml }).map(
      (problem) => /^tempoclaw\.yaml:\d+:\d+: [\w.]+/.exec(problem)?.[0],
    );
    assert.deepEqual(starts.toSorted(), [
      'tempoclaw.yaml:11:17: exec.categories.denied_path',
      'tempoclaw.yaml:2:12: tools.profile',
      'tempoclaw.yaml:5:7: tools.allow.1',
      'tempoclaw.yaml:7:19: tools.by_provider.x.profile',
      'tempoclaw.yaml:9:15: tools.rules.0.tool',
    ]);
  });

  test('broken YAML is named with line and column', () => {
    assert.match(problemsOf({ yaml: 'api:\n  port: [1\n' })[0] ?? '', /^tempoclaw\.yaml:\d+:\d+: /);
    assert.match(problemsOf({ yaml: '- a\n- b\n' })[0] ?? '', /must be a map/);
  });

  test('an unknown spelling of a boolean is refused, the usual ones are understood', () => {
    for (const [text, value] of [
      ['yes', true],
      ['0', false],
      ['ON', true],
      ['False', false],
      ['Auto', 'auto'],
      ['', 'auto'],
    ] as const) {
      const config = load({ env: { TEMPOCLAW_DECISION_TOKEN_REQUIRED: text } });
      assert.equal(config.approvals.decisionToken.required, value);
    }
    const [problem] = problemsOf({ env: { TEMPOCLAW_DECISION_TOKEN_REQUIRED: 'ja' } });
    assert.match(problem ?? '', /^TEMPOCLAW_DECISION_TOKEN_REQUIRED: "ja" is not true, false or auto/);
  });

  test('a named settings file that does not exist is refused', () => {
    assert.match(
      problemsOf({ flags: { config: 'other.yaml' } })[0] ?? '',
      /other\.yaml: no such settings file/,
    );
  });

  test('an encryption key that is short or no random bytes is refused without being repeated', () => {
    assert.equal(load({ env: { TEMPOCLAW_ENCRYPTION_KEY: KEY } }).encryption.key, KEY);
    const weak = [
      'c2hvcnQ=',
      Buffer.alloc(32).toString('base64'),
      Buffer.from('correct horse battery staple 123').toString('base64'),
    ];
    for (const key of weak) {
      const [problem] = problemsOf({ env: { TEMPOCLAW_ENCRYPTION_KEY: key } });
      assert.match(problem ?? '', /^TEMPOCLAW_ENCRYPTION_KEY: encryption\.key: must be 32 random bytes/);
      assert.ok(!problem?.includes(key));
    }
  });
});

describe('${NAME} in the file', () => {
  test('stands for the environment variable, and $${NAME} for itself', () => {
    const yaml =
      'models:\n  providers:\n    acme:\n      baseUrl: https://acme.test/v1\n      apiKey: ${ACME}\nworkspaceRoot: /srv/$${x}\n';
    const config = load({ yaml, env: { ACME: 'k-1' } });
    assert.equal(config.models.providers['acme']?.apiKey, 'k-1');
    assert.equal(config.workspaceRoot, '/srv/${x}');
  });

  test('of a variable that is not set is refused with its place', () => {
    const [problem] = problemsOf({ yaml: 'api:\n  publicUrl: "${WHERE}"\n' });
    assert.match(
      problem ?? '',
      /^tempoclaw\.yaml:2:14: \$\{WHERE\} refers to an environment variable that is not set/,
    );
  });
});

describe('MO-1 model providers', () => {
  test('each usual key variable configures its provider with its usual address', () => {
    const { providers } = load({
      env: {
        OPENAI_API_KEY: 'a',
        ANTHROPIC_API_KEY: 'b',
        GEMINI_API_KEY: 'c',
        OPENROUTER_API_KEY: 'd',
        DASHSCOPE_API_KEY: 'e',
        MINIMAX_API_KEY: 'f',
        OLLAMA_HOST: '0.0.0.0',
      },
    }).models;
    assert.deepEqual(providers['openai'], { type: 'openai', apiKey: 'a', api: 'responses' });
    assert.deepEqual(providers['anthropic'], { type: 'anthropic', apiKey: 'b' });
    assert.deepEqual(providers['google'], { type: 'google', apiKey: 'c' });
    assert.equal(providers['openrouter']?.baseUrl, 'https://openrouter.ai/api/v1');
    assert.match(providers['dashscope']?.baseUrl ?? '', /^https:\/\/dashscope/);
    assert.match(providers['minimax']?.baseUrl ?? '', /^https:\/\/api\.minimax/);
    assert.deepEqual(providers['ollama'], {
      type: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:11434/v1',
    });
  });

  test("another server behind OPENAI_BASE_URL needs no key and is spoken to in chat's protocol", () => {
    const { providers } = load({ env: { OPENAI_BASE_URL: 'http://localhost:8080/v1/' } }).models;
    assert.deepEqual(providers['openai'], {
      type: 'openai',
      baseUrl: 'http://localhost:8080/v1',
      api: 'chat',
    });
  });

  test('a base URL that another program has set does not make a provider without a key', () => {
    assert.deepEqual(load({ env: { ANTHROPIC_BASE_URL: 'https://proxy.test' } }).models.providers, {});
  });

  test('a key from the environment joins what the file says of the provider', () => {
    const yaml = 'models:\n  providers:\n    openai:\n      api: chat\n';
    const { providers } = load({ yaml, env: { OPENAI_API_KEY: 'a' } }).models;
    assert.deepEqual(providers['openai'], { type: 'openai', apiKey: 'a', api: 'chat' });
  });

  test('a provider of one’s own needs a base URL', () => {
    const [problem] = problemsOf({ yaml: 'models:\n  providers:\n    acme:\n      apiKey: x\n' });
    assert.match(problem ?? '', /models\.providers\.acme\.baseUrl/);
  });
});

describe('Temporal settings', () => {
  test('the official variables and a profile file are honoured', () => {
    const file = join(folder, 'temporal.toml');
    writeFileSync(file, '[profile.prod]\naddress = "prod.test:7233"\nnamespace = "ns"\napi_key = "k"\n');
    const config = load({ env: { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod' } });
    assert.equal(config.temporal.address, 'prod.test:7233');
    assert.equal(config.temporal.namespace, 'ns');
    assert.equal(config.temporal.apiKey, 'k');
    assert.equal(config.temporal.tls, true);
    const overrides = load({
      env: { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod', TEMPORAL_ADDRESS: 'a.test:1' },
    });
    assert.equal(overrides.temporal.address, 'a.test:1');
  });

  test('a profile that does not exist is a problem, not a silent default', () => {
    const file = join(folder, 'temporal.toml');
    writeFileSync(file, '[profile.prod]\naddress = "prod.test:7233"\n');
    const [problem] = problemsOf({ env: { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'none' } });
    assert.match(problem ?? '', /temporal\.toml/);
  });

  test('a certificate that cannot be read is a problem that names the setting', () => {
    const [problem] = problemsOf({ yaml: 'temporal:\n  tls:\n    serverCaCertPath: /nowhere/ca.pem\n' });
    assert.match(problem ?? '', /^temporal\.tls: .*\/nowhere\/ca\.pem/);
  });
});

describe('preflight and describe', () => {
  test('contradictions are refused in words', () => {
    assert.deepEqual(preflight(load()), []);
    const problems = preflight(load({ env: { TEMPOCLAW_MODEL: 'openai/gpt-4.1-mini' } })).join('\n');
    assert.match(problems, /models\.default names the provider "openai"/);
    const folders = preflight(load({ env: { TEMPOCLAW_SKILLS_FOLDERS: '/nowhere/skills' } })).join('\n');
    assert.match(folders, /skills\.folders: \/nowhere\/skills is no folder/);
  });

  test('a password of any characters reaches Postgres as it is, and is hidden', () => {
    for (const password of ['a/b1', 'p@ss#1?x', '100%:2 e', '%2F1', "'$1\\a"]) {
      const env = { DATABASE_URL: 'postgres://me@db.test/x', TEMPOCLAW_DATABASE_PASSWORD: password };
      const config = load({ env });
      assert.equal(new pg.Client({ connectionString: config.database.url ?? '' }).password, password);
      assert.ok(deploymentValues(config).includes(password), password);
      assert.ok(!JSON.stringify(describeConfig(config)).includes(password), password);
    }
  });

  test("a pooler's address gets the password too, keeps its own, and needs the database's", () => {
    const TEMPOCLAW_DATABASE_POOLER_URL = 'postgres://me@pool.test:6432/x';
    const both = { DATABASE_URL: 'postgres://me@db.test/x', TEMPOCLAW_DATABASE_POOLER_URL };
    const config = load({ env: { ...both, TEMPOCLAW_DATABASE_PASSWORD: 'p@ss#1' } });
    assert.equal(new pg.Client({ connectionString: config.database.poolerUrl ?? '' }).password, 'p@ss#1');
    const url = 'postgres://me:verysecret9@pool.test:6432/x';
    const own = load({ env: { ...both, TEMPOCLAW_DATABASE_POOLER_URL: url } });
    assert.ok(deploymentValues(own).includes('verysecret9'));
    const problems = preflight(load({ env: { TEMPOCLAW_DATABASE_POOLER_URL } }));
    assert.match(problems.join(), /poolerUrl needs database\.url/);
  });

  test('a URL that a password has torn is refused with what to write, and without the password', () => {
    for (const password of ['a/b1', '12/b', 'p#1', '12#x', '12?x', '1%zz']) {
      const problems = problemsOf({ env: { DATABASE_URL: `postgres://me:${password}@db.test/x` } });
      const [problem = ''] = problems;
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problem, /^DATABASE_URL: database\.url: .*%2F.*TEMPOCLAW_DATABASE_PASSWORD/, password);
      assert.ok(!problem.includes(password));
    }
    assert.deepEqual(problemsOf({ env: { TEMPOCLAW_DATABASE_PASSWORD: 'x' } }), [
      'database.password: database.url is not set',
    ]);
  });

  test('no secret is shown', () => {
    const secrets = {
      OPENAI_API_KEY: 'sk-verysecret1',
      DATABASE_URL: 'postgres://me:verysecret2@db.test/x',
      TEMPORAL_API_KEY: 'verysecret3',
      TEMPOCLAW_ENCRYPTION_KEY: KEY,
    };
    const text = describeConfig(load({ env: secrets })).join('\n');
    assert.match(text, /openai/);
    assert.match(text, /postgres:\/\/db\.test\/x/);
    for (const secret of ['verysecret', KEY]) assert.ok(!text.includes(secret), text);
  });
});

describe('each program', () => {
  for (const main of ['api/main.ts', 'workers/main.ts'])
    test(`${main} takes an empty variable as unset, also where a package reads it while it is imported`, () => {
      const names = [
        'OPENAI_BASE_URL',
        'ANTHROPIC_BASE_URL',
        'GOOGLE_GENERATIVE_AI_BASE_URL',
        'DATABASE_URL',
      ];
      const { stderr } = spawnSync(
        process.execPath,
        [fileURLToPath(new URL(`../${main}`, import.meta.url))],
        {
          cwd: folder,
          env: { PATH: process.env['PATH'], ...Object.fromEntries(names.map((name) => [name, ''])) },
          encoding: 'utf8',
        },
      );
      assert.match(stderr, /needs DATABASE_URL/);
    });
});
