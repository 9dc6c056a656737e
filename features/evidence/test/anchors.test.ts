/** DU-11: heads that are kept outside of the database, in a file, with a webhook and in a locked object. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { type S3Server, startS3Server } from '#test/support/s3-server.ts';
import { startApi } from '#test/support/stack.ts';
import { type Head, isSigned } from '../chain.ts';
import { evidenceSettings } from '../settings.ts';
import { readHeads } from '../verify.ts';
import { type Recorded, recordWork, startRecorded } from './recorded.ts';

describe('DU-11 anchors of the chain', () => {
  let recorded: Recorded;
  let folder: string;
  let bucket: S3Server;
  let hooks: Server;
  const posted: { readonly type: string; readonly data: Head }[] = [];
  const puts: { readonly key: string; readonly headers: IncomingHttpHeaders }[] = [];
  let isAway = true;
  async function answer(request: IncomingMessage): Promise<number> {
    const body = await text(request);
    if (!isAway) posted.push(JSON.parse(body));
    return isAway ? 503 : 204;
  }
  const file = () => join(folder, 'kept', 'heads.jsonl');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-anchors-'));
    bucket = await startS3Server();
    bucket.onRequest = (method, key, _body, headers) =>
      void (method === 'PUT' && puts.push({ key, headers }));
    hooks = createServer((request, response) => {
      void answer(request).then((status) => response.writeHead(status).end());
    });
    await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
    const { accessKeyId, secretAccessKey } = bucket.keys;
    const anchors = [
      { name: 'disk', type: 'file', path: file() },
      {
        name: 'auditor',
        type: 'webhook',
        url: `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/heads`,
      },
      {
        name: 'vault',
        type: 's3',
        store: 's3://bucket/a/b',
        s3: { endpoint: bucket.url, accessKeyId, secretAccessKey },
        retainDays: 30,
      },
    ];
    recorded = await startRecorded({ settings: JSON.stringify({ evidence: { anchorSeconds: 0, anchors } }) });
  });
  after(async () => {
    await recorded?.stop();
    hooks.close();
    await bucket.close();
    await rm(folder, { recursive: true });
  });

  const anchorsShown = async (): Promise<
    Record<string, { readonly seq: number; readonly problem: string | null }>
  > => {
    const { body } = await recorded.stack.ask('GET', '/v1/evidence');
    return Object.fromEntries(body.anchors.map((one: { name: string }) => [one.name, one]));
  };

  /** Resolves with the newest entry when each of the anchors has it. */
  const anchored = (...names: readonly string[]): Promise<number> =>
    recorded.stack.worker.until('the anchors', async () => {
      const { body } = await recorded.stack.ask('GET', '/v1/evidence');
      const shown = await anchorsShown();
      return body.waiting === 0 &&
        body.entries > 0 &&
        names.every((name) => shown[name]?.seq === body.entries)
        ? body.entries
        : undefined;
    });

  it('are each given the signed head, and the one that is away stops none and is shown', async () => {
    await recordWork(recorded, 1);
    const seq = await anchored('disk', 'vault');
    const auditor = await recorded.stack.worker.until('a problem', async () => {
      const { auditor } = await anchorsShown();
      return auditor?.problem ? auditor : undefined;
    });
    assert.deepEqual([auditor.seq, auditor.problem], [0, 'the webhook auditor answered 503']);
    isAway = false;
    await anchored('disk', 'vault', 'auditor');
    assert.equal((await anchorsShown())['auditor']?.problem, null);
    const [post] = posted;
    assert.equal(post?.type, 'evidence.head');
    const heads = readHeads(await readFile(file(), 'utf8'));
    const object = JSON.parse(String([...bucket.objects.values()].at(-1)));
    for (const head of [post?.data, heads.at(-1), object]) {
      assert.ok(head && isSigned(head));
      assert.equal(head.seq, seq);
    }
    const { key, headers } = puts.at(-1) ?? { key: '', headers: {} };
    assert.match(key, new RegExp(`^a/b/${recorded.stack.tenant}/0*${seq}-[0-9a-f]{16}\\.json$`));
    assert.equal(headers['x-amz-object-lock-mode'], 'COMPLIANCE');
    const days =
      (Date.parse(String(headers['x-amz-object-lock-retain-until-date'])) - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days < 30.1);
    const verdict = await recorded.verified({ anchors: heads });
    assert.deepEqual(verdict.fault, null);
    assert.ok(verdict.anchored > 0);
  });

  it('show that a chain was put back to an older state that was signed as well', async () => {
    const { superuser, stack } = recorded;
    await superuser.query(
      'set session_replication_role = replica; create table older as table evidence_heads',
    );
    await recorded.say('later', 'write_file {"path":"later.md","content":"x"}');
    const newest = await anchored('disk');
    await superuser.query(`delete from tool_calls where session_key = 'later';
      delete from evidence_entries where seq > (select seq from older);
      update evidence_heads h set seq = o.seq, hash = o.hash, signature = o.signature, at = o.at from older o`);
    assert.deepEqual((await recorded.verified()).fault, null);
    const anchors = readHeads(await readFile(file(), 'utf8'));
    const { fault } = await recorded.verified({ anchors });
    assert.equal(fault?.fault, 'truncated');
    assert.match(fault?.reason ?? '', new RegExp(`${newest}$`));
    // And it grows again, under the same numbers.
    await recorded.say('other', 'write_file {"path":"other.md","content":"y"}');
    await recorded.say('other', 'write_file {"path":"other.md","content":"z"}');
    await stack.worker.until('more entries', async () =>
      (await stack.ask('GET', '/v1/evidence')).body.entries >= newest ? true : undefined,
    );
    assert.equal((await recorded.verified({ anchors })).fault?.fault, 'forged');
  });

  it('are read from a file with a line that a crash has cut', async () => {
    const whole = await readFile(file(), 'utf8');
    const torn = join(folder, 'torn.jsonl');
    await writeFile(torn, `${whole.slice(0, -40)}${whole}`);
    const [before, after] = [readHeads(whole).length, readHeads(await readFile(torn, 'utf8')).length];
    assert.equal(after, before * 2 - 1);
  });

  it('are refused in the settings where agents could write, twice under a name, or without keys', () => {
    const problems = (anchors: readonly object[]) => {
      const parsed = evidenceSettings.schema.safeParse({ anchors });
      return parsed.success
        ? evidenceSettings.problems?.(parsed.data, { workspaceRoot: '/w' } as never)
        : parsed.error.issues.map(({ message }) => message);
    };
    const disk = { name: 'disk', type: 'file', path: '/w/heads' };
    assert.match(String(problems([disk])), /lies within the workspaces/);
    assert.deepEqual(problems([{ ...disk, path: '/v/heads' }]), []);
    assert.match(String(problems([disk, disk])), /different names/);
    assert.match(String(problems([{ name: 'v', type: 's3', store: 's3://bucket' }])), /needs accessKeyId/);
  });
});

describe('DU-11 IN-8 the metrics of the operator', () => {
  it('count the tenants for which each anchor fails, and nothing of an anchor that was removed', async (t) => {
    const anchors = [
      { name: 'disk', type: 'file', path: '/nowhere' },
      { name: 'auditor', type: 'file', path: '/nowhere' },
    ] as const;
    const api = await startApi({ evidence: { anchorSeconds: 60, anchors: [...anchors] } });
    t.after(() => api.stop());
    for (const { tenant } of [api, await api.makeTenant()])
      await api.pool.query(
        `insert into evidence_anchors (tenant_id, name, failures)
        values ($1, 'disk', 0), ($1, 'auditor', 3), ($1, 'removed', 9)`,
        [tenant],
      );
    const { body } = await api.ask('GET', '/metrics');
    assert.deepEqual(body.match(/^tempoclaw_evidence_\S+ .*/gm), [
      'tempoclaw_evidence_anchors_failing{anchor="disk"} 0',
      'tempoclaw_evidence_anchors_failing{anchor="auditor"} 2',
    ]);
  });
});
