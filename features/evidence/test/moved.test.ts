/** DU-11: the chain of a tenant goes on in another installation, under the same key. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { exportTenant } from '#features/tenant-move/export-tenant.ts';
import { importTenant } from '#features/tenant-move/import-tenant.ts';
import {
  startTwoInstallations,
  type TwoInstallations,
} from '#features/tenant-move/test/two-installations.ts';
import type { Stack } from '#test/support/stack.ts';
import { verifyEvidence } from '../verify.ts';

const PASSPHRASE = 'a numbat in a move';

describe('DU-11 evidence of a tenant that moves', () => {
  let both: TwoInstallations;
  before(async () => {
    both = await startTwoInstallations();
  });
  after(() => both?.stop());

  async function say(stack: Stack, session: string): Promise<void> {
    const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      key: both.old.key,
      body: { text: 'write_file {"path":"a.md","content":"a"}' },
    });
    assert.equal(body.status, 'completed', JSON.stringify(body));
  }

  async function exported(stack: Stack): Promise<readonly string[]> {
    const headers = { authorization: `Bearer ${both.old.key}` };
    const answer = await fetch(`${stack.url}/v1/evidence/export`, { headers });
    return (await answer.text()).trimEnd().split('\n');
  }

  it('goes on where it was, with what waited for it', async () => {
    const { old } = both;
    await say(old, 'before');
    const { head } = await verifyEvidence(await exported(old));
    assert.ok(head);
    // Without the limits of the pool, which end a transaction that waits.
    const holder = new pg.Client({ connectionString: old.worker.databaseUrl });
    await holder.connect();
    await holder.query(`begin; select lock_evidence('${old.tenant}')`);
    await say(old, 'waiting');
    const file = join(both.folder, 'tenant');
    const still = { why: 'it moves', waitSeconds: 60 };
    await exportTenant(await both.open(old), old.tenant, file, PASSPHRASE, still).finally(() => holder.end());
    await importTenant(await both.open(both.new), file, PASSPHRASE);
    await say(both.new, 'after');
    const lines = await exported(both.new);
    const verdict = await verifyEvidence(lines, { anchors: [head], key: head.public_key });
    assert.deepEqual(verdict.fault, null);
    assert.equal(verdict.anchored, 1);
    const sessions = lines
      .slice(1, -1)
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === 'call')
      .map(({ content }) => JSON.parse(content).session);
    assert.deepEqual(sessions, ['before', 'waiting', 'after']);
  });
});
