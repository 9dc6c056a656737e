/** AP-2, SH-2, SH-6: the page of a link says what would run and where; it decides where Temporal needs a token. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withoutWall } from '@tempoclaw/sandbox';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('AP-2 links where commands run unboxed and with no whole wall', () => {
  let stack: Stack;
  let folder: string;
  const path = process.env['PATH'];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-programs-'));
    process.env['PATH'] = `${folder}:${path}`;
    await writeFile(join(folder, 'greet'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    const env = { TEMPOCLAW_DECISION_TOKEN_REQUIRED: 'true' };
    stack = await startStack({ env, wall: { ...withoutWall(), wall: 'files' } });
  });
  after(async () => {
    await stack.stop();
    process.env['PATH'] = path;
    await rm(folder, { recursive: true, force: true });
  });

  async function linkFor(approval: string): Promise<{ readonly url: string; readonly html: string }> {
    const { body } = await stack.ask('POST', `/v1/approvals/${approval}/links`, { body: { for: 'ann' } });
    return { url: body.url, html: await fetch(body.url).then((answer) => answer.text()) };
  }

  it('show what “always” would store, and where it would run', async () => {
    const args = { command: "greet 'a  b' now" };
    const { status, body } = await stack.ask('POST', '/v1/tools/exec/invoke', { body: { args } });
    assert.equal(status, 202, JSON.stringify(body));
    const { html } = await linkFor(body.approval_id);
    assert.ok(html.includes(`${folder}/greet &#39;a  b&#39; now`), html);
    assert.match(html, /on the host, not in a sandbox, and with no whole wall/);
  });

  it('decide without a token', async () => {
    const { turn_id } = await stack.worker.say('linked', 'poke {"note":"linked"}', { user: 'ann' });
    const approval = await stack.worker.approvalOf('linked');
    assert.equal((await stack.ask('GET', `/v1/approvals/${approval}`)).body.terms.decision_token, true);
    const { url, html } = await linkFor(approval);
    const digest = /name="digest" value="([0-9a-f]{64})"/.exec(html)?.[1] ?? '';
    const form = new URLSearchParams({ decision: 'approve', digest });
    assert.equal((await fetch(url, { method: 'POST', body: form, redirect: 'manual' })).status, 303);
    await stack.worker.ended(turn_id);
    assert.deepEqual(
      stack.worker.probes.effects.map(({ note }) => note),
      ['linked'],
    );
  });
});
