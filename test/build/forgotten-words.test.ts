/**
 * What a user has said, in every way, is nowhere after they are forgotten: in no row, no history of Temporal, no file.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Forgetting } from '#domain/schema/forgetting.ts';
import { type EmbeddingServer, startEmbeddingServer } from '#test/support/embedding-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { ANN_WORD, makeTenantObjects } from '#test/support/tenant-objects.ts';

describe('forgetting a user', () => {
  let server: EmbeddingServer;
  let stack: Stack;
  before(async () => {
    server = await startEmbeddingServer([[ANN_WORD]]);
    stack = await startStack({
      env: { EMBEDDING_BASE_URL: server.url, TEMPOCLAW_EMBEDDING_MODEL: 'openai/small' },
    });
  });
  after(async () => {
    await server.close();
    await stack.stop();
  });

  async function rowsWith(word: string): Promise<readonly string[]> {
    const { rows } = await stack.pool.query<{ table: string; column: string; type: string }>(
      `select c.table_name as table, c.column_name as column, c.data_type as type from information_schema.columns c
       join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = 'public' and t.table_type = 'BASE TABLE'`,
    );
    const found: string[] = [];
    for (const { table, column, type } of rows) {
      const text = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`;
      const { rowCount } = await stack.pool.query(
        `select from "${table}" where position($1 in lower(${text})) > 0`,
        [word],
      );
      if (rowCount) found.push(`${table}.${column}`);
    }
    return found;
  }

  async function historiesWith(word: string): Promise<readonly string[]> {
    const found = new Set<string>();
    const query = `TempoclawTenant = '${stack.tenant}' or TaskQueue = 'q-${stack.tenant}'`;
    for await (const { workflowId, runId } of stack.worker.client.workflow.list({ query })) {
      const history = await stack.worker.client.workflow
        .getHandle(workflowId, runId)
        .fetchHistory()
        .catch(() => undefined);
      if (workflowId.includes(word) || textOf(history).toLowerCase().includes(word)) found.add(workflowId);
    }
    return [...found];
  }

  async function filesWith(word: string): Promise<readonly string[]> {
    const all = await readdir(stack.worker.workspaceRoot, { recursive: true, withFileTypes: true });
    const found: string[] = [];
    for (const file of all) {
      const path = join(file.parentPath, file.name);
      if (path.includes(word) || (file.isFile() && (await readFile(path, 'utf8')).includes(word)))
        found.push(path);
    }
    return found;
  }

  async function forget(user: string): Promise<Forgetting> {
    const answer = await stack.ask('DELETE', `/v1/users/${encodeURIComponent(user)}`);
    assert.equal(answer.status, 202);
    return stack.worker.until('the receipt', async () => {
      const { body } = await stack.ask('GET', `/v1/forgettings/${answer.body.id}`);
      return body.status === 'done' ? body : undefined;
    });
  }

  /** A document of memory, with its vectors. */
  async function remember(agent: string, user: string): Promise<void> {
    const path = `/v1/agents/${agent}/files/memory/x.md?user=${encodeURIComponent(user)}`;
    assert.equal((await stack.ask('PUT', path, { body: { text: `Likes the ${ANN_WORD}.` } })).status, 200);
    await stack.worker.until('the index', async () => {
      const { body } = await stack.ask(
        'GET',
        `/v1/agents/${agent}/memory/status?user=${encodeURIComponent(user)}`,
      );
      return body.pending === 0 && body.documents > 0 ? true : undefined;
    });
  }

  it('leaves his words in no row and no file, and says what it does not reach', async () => {
    const ann = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    await makeTenantObjects(stack, ann);
    await remember('quokka', 'ann');
    const words = {
      user: 'ann',
      description: ANN_WORD,
      url: `mailto:ann@${ANN_WORD}.test`,
      events: ['approval.requested'],
    };
    assert.equal((await stack.ask('POST', '/v1/webhooks', { body: words })).status, 201);
    const request = { server: 'quokka', scope: 'agent', subject: 'quokka', reason: ANN_WORD };
    assert.equal((await stack.ask('POST', '/v1/mcp/requests', { body: request, key: ann })).status, 201);
    assert.ok((await rowsWith(ANN_WORD)).length > 30);
    assert.ok((await historiesWith(ANN_WORD)).length >= 5);
    assert.ok((await historiesWith('quokka/ann')).length === 1);
    assert.equal((await filesWith(ANN_WORD)).length, 1);

    const { removed, stays } = await forget('ann');
    assert.deepEqual(await rowsWith(ANN_WORD), []);
    assert.deepEqual(await filesWith(ANN_WORD), []);
    assert.equal((await stack.pool.query('select from embeddings')).rowCount, 0);
    assert.deepEqual([removed['webhooks'], (removed['embeddings'] ?? 0) > 0], [1, true]);
    assert.ok(stays.some((words) => words.includes('disks of workers')));
  });

  it('takes all runs, that which indexed his memory too, however he is called, and nobody else’s', async () => {
    for (const user of ["o'hara \\", 'ben']) await remember('main', user);
    await forget("o'hara \\");
    // Temporal takes a while to delete what it has accepted.
    for (const word of [ANN_WORD, 'quokka/ann', "o'hara"])
      await stack.worker.until(`no run with ${word}`, async () =>
        (await historiesWith(word)).length === 0 ? true : undefined,
      );
    assert.equal((await historiesWith('main/ben')).length, 1);
  });
});

/** The text of all payloads and names of a history. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textOf).join('\n');
}
