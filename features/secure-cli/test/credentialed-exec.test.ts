/** The tool with a real vault, store and processes; the program is a script that shows what it got. */
import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { OWN_NAME } from '#activities/process/own-names.ts';
import { ownIdentity, createShell, makeWorkerFolder, removeLeftFolders } from '@tempoclaw/sandbox';
import { refuseSecureCli, secureCliReason } from '../activities/refuse-secure-cli.ts';
import { sealedPart } from '../sealed.ts';
import { createSecureClis, type SecureClis } from '../activities/secure-clis.ts';
import { tool as credentialedExec } from '../tools/credentialed-exec.ts';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import { SECURE_CLI_PRESETS } from '../rules/presets.ts';
import type { SecureCli } from '../rules/secure-cli.ts';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import { insertTenant } from '#store/api-key-store.ts';
import { putSecret, secretPlace } from '#store/secret-store.ts';
import { openSecrets, type Secrets } from '#store/secrets/open-secrets.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type CliVariable, findSecureCli, putSecureCli, secureCliPlace } from '../store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';
import vectors from '#test/vectors/credentialed-exec.json' with { type: 'json' };

const TOKEN = 'canary-token-of-gh-31337';
const SHOW = `#!/bin/sh
printf 'args:'; for a in "$@"; do printf ' <%s>' "$a"; done; echo
case "$1" in
  env) printenv "$2" ;;
  home) echo "$HOME" ;;
  cat) cat "$KUBECONFIG" ;;
  sleep) sleep 60 ;;
  fail) echo broken >&2; exit 3 ;;
esac
`;

let database: TestDatabase;
let secrets: Secrets;
before(async () => {
  database = await createTestDatabase();
  await insertTenant(database.pool, 'default', 'Default');
  secrets = await openSecrets({
    rows: ROWS,
    settings: {
      stateDir: '/nonexistent',
      encryption: { key: randomBytes(32).toString('base64'), previousKeys: [] },
    },
    databaseUrl: database.url,
    pool: database.pool,
    deploymentValues: [],
    onError: () => undefined,
  });
});
after(async () => {
  await secrets.close();
  await database.drop();
});

async function grant(
  name: string,
  overrides: Partial<SecureCli> = {},
  env: readonly CliVariable[] = [{ name: 'GH_TOKEN', kind: 'sensitive', value: TOKEN }],
): Promise<void> {
  const { env: _, ...preset } = SECURE_CLI_PRESETS[name] ?? SECURE_CLI_PRESETS['gh'] ?? assert.fail();
  const cli = { ...preset, name, keyword_allowlist: [], agents: ['main'], ...overrides };
  const sealed = secrets.sealer.seal(JSON.stringify(env), secureCliPlace('default', name));
  const db = forTenant(database.pool, 'default');
  const written = { cli, sealed, keyId: secrets.sealer.keyId, by: 'test' };
  await putSecureCli(db, written, await findSecureCli(db, name));
  for (let tries = 0; tries < 500; tries++) {
    const seen = (await secrets.vault.openedOf('default', sealedPart)).find((each) => each.cli.name === name);
    const isSeen = JSON.stringify([seen?.cli.agents, seen?.variables]) === JSON.stringify([cli.agents, env]);
    if (isSeen && seen?.cli.host === cli.host) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('the change was not heard');
}

interface Service {
  readonly bench: Bench;
  readonly bin: string;
  readonly credentials: string;
  readonly secureClis: SecureClis;
}

async function service(t: TestContext): Promise<Service> {
  const folder = await toolBench(t);
  const bin = join(folder.base, 'bin');
  await mkdir(bin);
  await mkdir(folder.workspace, { recursive: true });
  for (const name of ['gh', 'kubectl', 'zernio']) {
    await writeFile(join(bin, name), SHOW);
    await chmod(join(bin, name), 0o755);
  }
  const credentials = join(folder.base, 'credentials');
  const secureClis = createSecureClis({
    vault: secrets.vault,
    pool: database.pool,
    shell: createShell({
      name: OWN_NAME,
      environment: commandEnvironment(process.env),
      worker: ownIdentity(),
      graceMs: 100,
    }),
    dir: credentials,
    folders: [bin],
    workspaceRoot: folder.workspace,
  });
  const bench: Bench = {
    ...folder,
    run: (tool, args, overrides) =>
      tool.run({ ...folder.deps, secureClis } as never, args, callOf(folder, overrides)),
  };
  return { bench, bin, credentials, secureClis };
}

function callOf(folder: Bench, overrides: object = {}) {
  return {
    tenant: 'default',
    agent: 'main',
    workspace: folder.workspace,
    callId: `call_${randomBytes(4).toString('hex')}`,
    signal: new AbortController().signal,
    progress: () => undefined,
    exec: { timeoutSeconds: 60 },
    ...overrides,
  } as never;
}

describe('SH-4 credentialed_exec', () => {
  test('gives the program its arguments as they are, and the credential in its environment only', async (t) => {
    await grant('gh');
    const { bench, credentials } = await service(t);
    const odd = ['env', 'GH_TOKEN', '$(id)', 'a; b | c', '*', '-- "x"'];
    const ran = await bench.run(credentialedExec, { binary: 'gh', args: odd });
    assert.ok(ran.ok);
    assert.equal(ran.text, `args: ${odd.map((arg) => `<${arg}>`).join(' ')}\n${TOKEN}`);
    assert.ok(!JSON.stringify((await secrets.vault.scrubberOf('default')).text(ran.text)).includes(TOKEN));
    const home = await bench.run(credentialedExec, { command: 'gh home' });
    assert.ok(home.ok && home.text.includes(credentials), 'a home of its own');
    assert.deepEqual(await readdir(credentials), [], 'which goes with the call');
    const plain = await bench.run(exec, { command: 'printenv GH_TOKEN || echo none' });
    assert.ok(plain.ok && plain.text === 'none', 'no other command has it');
  });

  test('for an agent that must be in a sandbox it does not run on the host, unless who granted it says so', async (t) => {
    const { bench } = await service(t);
    const inBox = (mode: 'required' | 'preferred') => ({ sandbox: sandboxOf({}, mode) ?? assert.fail() });
    await grant('gh');
    const refused = await bench.run(credentialedExec, { command: 'gh env GH_TOKEN' }, inBox('required'));
    assert.ok(!refused.ok);
    assert.equal(refused.code, 'PermissionDenied');
    assert.match(refused.message, /must run in a sandbox; it has not run.*host: true for gh/);
    const listed = await bench.run(credentialedExec, {}, inBox('required'));
    assert.ok(!JSON.stringify(listed).includes('gh:'), 'nor is it offered');
    const preferred = await bench.run(credentialedExec, { command: 'gh env GH_TOKEN' }, inBox('preferred'));
    assert.ok(preferred.ok);
    await grant('gh', { host: true });
    const allowed = await bench.run(credentialedExec, { command: 'gh env GH_TOKEN' }, inBox('required'));
    assert.ok(allowed.ok && allowed.text.endsWith(TOKEN));
  });

  test('a file credential is a private file during the call, and its keys are hidden too', async (t) => {
    const key = 'Zk3R9vT1yW7qX5bN2mL8cJ4hG6fD0sA';
    const value = `users:\n- name: a\n  anything: ${key}\n`;
    await grant('kubectl', {}, [{ name: 'KUBECONFIG', kind: 'file', value }]);
    const { bench, credentials } = await service(t);
    const ran = await bench.run(credentialedExec, { command: 'kubectl cat' });
    assert.ok(ran.ok && ran.text.includes(key));
    assert.ok(!(await secrets.vault.scrubberOf('default')).text(`x=${key}`).includes(key));
    assert.deepEqual(await readdir(credentials), []);
  });

  test('a credential may refer to a secret; one that is not set is told by its name', async (t) => {
    await grant('gh', {}, [{ name: 'GH_TOKEN', kind: 'sensitive', value: 'secret://ghtoken' }]);
    const { bench } = await service(t);
    const missing = await bench.run(credentialedExec, { command: 'gh env GH_TOKEN' });
    assert.ok(!missing.ok && /"ghtoken"/.test(missing.message));
    const sealed = secrets.sealer.seal('value-of-ghtoken-1', secretPlace('default', 'ghtoken'));
    await putSecret(forTenant(database.pool, 'default'), {
      name: 'ghtoken',
      sealed,
      keyId: secrets.sealer.keyId,
      by: 'test',
    });
    await grant('gh', { tips: 'heard' }, [
      { name: 'GH_TOKEN', kind: 'sensitive', value: 'secret://ghtoken' },
    ]);
    for (let tries = 0; tries < 500; tries++) {
      const ran = await bench.run(credentialedExec, { command: 'gh env GH_TOKEN' });
      if (ran.ok) return assert.match(ran.text, /value-of-ghtoken-1/);
    }
    return assert.fail('the secret was not heard of');
  });

  test('quoted text is data; an operator outside of quotes refuses the call', async (t) => {
    await grant('zernio', { deny_args: [], deny_verbose: [] });
    const { bench } = await service(t);
    for (const { command, expect } of vectors.quoted_text) {
      const ran = await bench.run(credentialedExec, { command });
      assert.equal(ran.ok, expect.startsWith('runs'), command);
      if (!ran.ok) assert.match(ran.message, /shell operators are not allowed/);
    }
  });

  test('denied arguments are refused with the rule and the tips; excused words are told', async (t) => {
    await grant('gh', {
      keyword_allowlist: [{ subcommands: ['issue create'], args: ['--body'], keywords: ['secret'] }],
    });
    const { bench } = await service(t);
    const denied = await bench.run(credentialedExec, { command: 'gh auth token' });
    assert.ok(!denied.ok && denied.code === 'PermissionDenied' && /deny_args.*\nTip: /s.test(denied.message));
    const messages: string[] = [];
    const ran = await bench.run(
      credentialedExec,
      { binary: 'gh', args: ['issue', 'create', '--body', 'a secret'] },
      {
        progress: (text: string) => void messages.push(text),
      },
    );
    assert.ok(ran.ok);
    assert.match(messages.join(''), /"secret" in --body is excused/);
  });

  test('only the configured file gets the credentials: not a namesake in the workspace, nor one by a link', async (t) => {
    await grant('gh');
    const { bench, bin } = await service(t);
    await writeFile(join(bench.workspace, 'gh'), SHOW);
    await chmod(join(bench.workspace, 'gh'), 0o755);
    for (const binary of ['./gh', join(bench.workspace, 'gh'), '../bin/../workspace/gh']) {
      const ran = await bench.run(credentialedExec, { binary, args: ['env', 'GH_TOKEN'] });
      assert.ok(!ran.ok && ran.code === 'PermissionDenied', binary);
      assert.match(ran.message, /is not the configured program gh/);
    }
    assert.ok(
      (await bench.run(credentialedExec, { binary: join(bin, 'gh') })).ok,
      'the same file by its path',
    );
    await symlink(join(bench.workspace, 'gh'), join(bin, 'linked'));
    await grant('linked', { path: join(bin, 'linked') });
    const linked = await bench.run(credentialedExec, { binary: 'linked' });
    assert.ok(!linked.ok && /agents could have written/.test(linked.message));
    await grant('gone', { path: join(bin, 'gone') });
    const gone = await bench.run(credentialedExec, { binary: 'gone' });
    assert.ok(!gone.ok && gone.code === 'NotFound');
  });

  test('an agent without a grant is refused, also for programs that nobody configured', async (t) => {
    await grant('gh', { agents: ['other'] });
    const { bench, secureClis } = await service(t);
    const line = 'gh api x';
    for (const ran of [
      await bench.run(credentialedExec, { command: line }),
      (await refuseSecureCli(secureClis, { tenant: 'default', agent: 'main' }, line)) ?? assert.fail(),
    ]) {
      assert.ok(!ran.ok && ran.code === 'PermissionDenied');
      assert.equal(ran.message, vectors.gate_text);
    }
    const other = await bench.run(credentialedExec, { command: 'gh api x' }, { agent: 'other' });
    assert.ok(other.ok);
    const unknown = await bench.run(credentialedExec, { binary: 'nobody' });
    assert.ok(!unknown.ok && unknown.code === 'PermissionDenied');
    const listed = await bench.run(credentialedExec, {}, { agent: 'other' });
    assert.ok(listed.ok && /^gh: /m.test(listed.text));
  });

  test('its time is bounded, a stop ends it, and both leave nothing', async (t) => {
    await grant('gh', { timeout_seconds: 1 });
    const { bench, credentials } = await service(t);
    const late = await bench.run(credentialedExec, { command: 'gh sleep' });
    assert.ok(!late.ok && late.code === 'Timeout');
    const stopped = await bench.run(
      credentialedExec,
      { command: 'gh sleep' },
      { signal: AbortSignal.timeout(200) },
    );
    assert.ok(!stopped.ok && stopped.code === 'Cancelled');
    assert.deepEqual(await readdir(credentials), []);
  });

  test('what a killed worker left of credentials is removed by the next one of its machine; what others have stays', async (t) => {
    const { credentials } = await service(t);
    const own = basename(makeWorkerFolder(credentials));
    const [machine = ''] = own.split('.');
    const elsewhere = own.replace(machine, machine === '00000000' ? '11111111' : '00000000');
    for (const name of [`${machine}.999999.1-abc`, elsewhere]) await mkdir(join(credentials, name));
    assert.equal(await removeLeftFolders(credentials), 1);
    assert.deepEqual((await readdir(credentials)).toSorted(), [elsewhere, own].toSorted());
  });
});

describe('SH-4 the gate of exec', () => {
  test('refuses as the cases say, and when nobody can tell', async (t) => {
    await grant('gh', { agents: [] });
    const { secureClis } = await service(t);
    const call = { tenant: 'default', agent: 'main' };
    for (const { command, expect } of vectors.gate) {
      const refusal = await refuseSecureCli(secureClis, call, command);
      const known = secureCliReason(secureClis.listNow('default'), 'main', command);
      assert.equal(known, refusal?.message, command);
      const reason = expect === 'grant required' ? vectors.gate_text : expect;
      assert.equal(refusal?.message ?? 'runs', reason, command);
    }
    const failing = { list: () => Promise.reject(new Error('away')) };
    const closed = await refuseSecureCli(failing, call, 'echo a');
    assert.ok(closed && vectors.db_error.startsWith(closed.message));
  });
});
