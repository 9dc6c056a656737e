/** Runs the code of the README, and the example that it names. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';

async function node(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(process.execPath, args, { cwd: fileURLToPath(new URL('..', import.meta.url)) });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}

describe('the example', () => {
  test('fetches what the rules let through, and says why the rest is refused', async (t) => {
    const server = createServer((request, reply) => {
      if (request.url === '/away') reply.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      else reply.end('hello');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    t.after(() => server.close());
    const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const urls = [`http://${place}/`, `http://${place}/away`, 'http://127.0.0.1:1/'];
    const { stdout } = await node('examples/fetch-urls.ts', '--internal', place, ...urls);
    assert.deepEqual(stdout.trim().split('\n'), [
      `recorded for the example: GET ${place}, 5 bytes, no problem`,
      `http://${place}/: 200, 5 characters`,
      'recorded for the example: GET 169.254.169.254, 0 bytes, metadata',
      'refused (metadata): it leads on to 169.254.169.254, which may not be asked: it is where clouds give out credentials',
      'recorded for the example: GET 127.0.0.1:1, 0 bytes, port',
      'refused (port): http://127.0.0.1:1/ may not be asked: port 1 belongs to another service than the web',
    ]);
  });
});

describe('the README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];

  test('says what its example returns', async () => {
    // Each expression with the value in the comment below it.
    const claim = /^(?!import|const)(.+);\n\/\/ (.+)$/gm;
    assert.equal([...code.matchAll(claim)].length, 3);
    const checks = code.replaceAll(
      claim,
      (_, expression: string, value: string) => `assert.deepEqual(${expression}, ${value});`,
    );
    const program = `import assert from 'node:assert/strict';\n${checks}`;
    const { stdout, stderr } = await node('--input-type=module-typescript', '--eval', program);
    assert.equal(stderr, '');
    assert.equal(stdout, 'ann GET 169.254.169.254 metadata\n');
  });
});
