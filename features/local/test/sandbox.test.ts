/** SH-3: `tempoclaw sandbox test` and what `doctor` says of the sandbox, on a real engine and without one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, describe, test as plainTest } from 'node:test';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createBubblewrap } from '@tempoclaw/sandbox';
import { childEnvironment, commandFolders } from '#config';
import { engineTests, findEngine } from '#test/support/container-engine.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const { test, stop } = engineTests(await findEngine());
after(stop);
const hasBubblewrap = await createBubblewrap(commandFolders()).works();

const BIN = fileURLToPath(new URL('../../../bin/tempoclaw.js', import.meta.url));

async function tempoclaw(cwd: string, dockerHost: string, ...args: string[]) {
  const env = childEnvironment({ DOCKER_HOST: dockerHost, TEMPOCLAW_SANDBOX: undefined, NO_COLOR: '1' });
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>]);
  return { code, stdout };
}

interface Tried {
  readonly holds: boolean;
  readonly checks: readonly { readonly check: string; readonly ok: boolean; readonly seen: string }[];
}

describe('SH-3 tempoclaw sandbox test', () => {
  test('tries a box from inside and finds that it holds', async (t, engine) => {
    const folder = await temporaryFolder(t);
    const { code, stdout } = await tempoclaw(folder, engine.address, 'sandbox', 'test', '--json');
    const { holds, checks } = JSON.parse(stdout) as Tried;
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    );
    for (const check of [
      'user',
      'rights',
      'descriptors',
      'user namespaces',
      'kernel calls',
      'fork bomb',
      'memory',
    ])
      assert.ok(
        checks.some((one) => one.check === check),
        check,
      );
    assert.equal(holds, true);
    assert.equal(code, 0);
  });

  plainTest(
    'tries bubblewrap from inside',
    { skip: !hasBubblewrap && 'bubblewrap does not work here' },
    async (t) => {
      const folder = await temporaryFolder(t);
      const args = ['sandbox', 'test', '--bubblewrap', '--json'];
      const { code, stdout } = await tempoclaw(folder, `unix://${folder}/none`, ...args);
      const { checks } = JSON.parse(stdout) as Tried;
      assert.deepEqual(
        checks.filter(({ ok }) => !ok),
        [],
      );
      for (const check of [
        'rights',
        'descriptors',
        'user namespaces',
        'kernel calls',
        'network',
        'workspace',
      ])
        assert.ok(
          checks.some((one) => one.check === check),
          check,
        );
      assert.equal(code, 0);
    },
  );

  plainTest('says that there is no engine, and fails', async (t) => {
    const folder = await temporaryFolder(t);
    const { code, stdout } = await tempoclaw(folder, `unix://${folder}/none`, 'sandbox', 'test');
    assert.equal(code, 1);
    assert.match(stdout, /✘ +box .*(no engine answers|has not answered)/);
  });
});

describe('doctor on the sandbox', () => {
  test('names the engine, the image, gVisor and bubblewrap', async (t, engine) => {
    const { stdout } = await tempoclaw(await temporaryFolder(t), engine.address, 'doctor');
    assert.match(stdout, /Sandbox +preferred; where commands run: a container/);
    assert.match(stdout, /✔ Engine +unix:/);
    assert.match(stdout, /✔ Image +tempoclaw-sandbox/);
    assert.match(stdout, /gVisor +(runsc is there|the engine has no runsc)/);
    assert.match(stdout, /bubblewrap +/);
  });

  plainTest('says what is missing and what to do', async (t) => {
    const folder = await temporaryFolder(t);
    const { stdout } = await tempoclaw(folder, `unix://${folder}/none`, 'doctor', '--json');
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; detail: string; remedy?: string }[];
    };
    const engine = findings.find(({ check }) => check === 'Engine');
    assert.match(engine?.detail ?? '', /no engine answers|has not answered/);
    assert.match(engine?.remedy ?? '', /install Docker/);
  });
});
