/** DU-11: `evidence verify` at an export on disk, without an installation. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runCli } from '#test/cli/support/run-cli.ts';
import { digestOf, FORMAT, hashLink, type Head, signedText, START, VERSION } from '../chain.ts';

const AT = '2026-05-01T09:00:00.000Z';

/** A chain of one call, and its head. */
function chainOf(tenant: string, key: KeyObject, publicKey: string): { lines: object[]; head: Head } {
  const [salt, content] = ['00ff', '{"id":"call_1","tool":"datetime"}'];
  const link = { seq: 1, kind: 'call', digest: digestOf(salt, content), previous: START, at: AT };
  const hash = hashLink(link);
  const unsigned = { tenant, seq: 1, hash, at: AT };
  const signature = sign(null, signedText(unsigned), key).toString('base64');
  const head = { ...unsigned, public_key: publicKey, signature };
  const header = { format: FORMAT, version: VERSION, tenant, public_key: publicKey };
  return { lines: [header, { ...link, hash, salt, content }, { entries: 1, head }], head };
}

describe('DU-11 the verifier on the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  after(() => rmSync(folder, { recursive: true }));
  const written = (name: string, lines: readonly object[]): string => {
    const path = join(folder, name);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  };
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const encoded = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const { lines, head } = chainOf('acme', privateKey, encoded);
  const file = written('export.jsonl', lines);
  const verify = (...args: string[]) => runCli(['evidence', 'verify', file, ...args]);

  it('says how many anchored heads agree', async () => {
    const other = chainOf('globex', privateKey, encoded).head;
    const { code, stdout } = await verify('--anchor', written('heads.jsonl', [other, head]));
    assert.equal(code, 0);
    assert.match(stdout, /1 anchored heads agree/);
  });

  it('fails when a file of anchors has no head of the tenant, because nothing was compared', async () => {
    const other = chainOf('globex', privateKey, encoded).head;
    for (const heads of [[], [{}], [other]])
      for (const flags of [[], ['--json']]) {
        const { code, stdout, stderr } = await verify('--anchor', written('none.jsonl', heads), ...flags);
        assert.equal(code, 1);
        assert.equal(stdout, '');
        assert.match(stderr, /none\.jsonl has no head of acme; nothing could be compared with it/);
      }
  });
});
