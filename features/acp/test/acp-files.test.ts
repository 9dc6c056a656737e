/** Files that an editor sends and gets. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ContentBlock, methods } from '@agentclientprotocol/sdk';
import { type Stack, startStack } from '#test/support/stack.ts';
import { type Editor, FOLDER, startEditor } from './editor.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = Buffer.from(
  'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0',
  'latin1',
);

describe('IN-11 files of code editors', { timeout: 100_000 }, () => {
  let stack: Stack;
  let editor: Editor;
  before(async () => {
    stack = await startStack();
    editor = await startEditor({
      url: stack.url,
      key: await stack.makeKey(['read', 'run'], { user: 'ann' }),
    });
  });
  after(async () => {
    await editor?.stop();
    await stack?.stop();
  });

  async function keep(bytes: Buffer, query: string, type: string): Promise<string> {
    const response = await fetch(`${stack.url}/v1/artifacts?${query}`, {
      method: 'POST',
      body: new Uint8Array(bytes),
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': type },
    });
    return ((await response.json()) as { id: string }).id;
  }
  /** Types and names of the files of the message with these words. */
  async function filesOf(words: string): Promise<readonly (readonly [string, string | null])[]> {
    const { rows } = await stack.pool.query<{ attachments: { type: string; name: string | null }[] | null }>(
      `select attachments from messages where tenant_id = $1 and role = 'user' and text like $2`,
      [stack.worker.tenant, `%${words}%`],
    );
    assert.equal(rows.length, 1, words);
    return (rows[0]?.attachments ?? []).map(({ type, name }) => [type, name] as const);
  }

  it('are attached to the message, and small files with text stand in it', async () => {
    assert.deepEqual(editor.capabilities?.promptCapabilities, {
      image: true,
      audio: true,
      embeddedContext: true,
    });
    const kept = await keep(Buffer.from('Kept.'), 'filename=kept.txt&user=ann', 'text/plain');
    const blob = Buffer.from('%PDF-1.4\n').toString('base64');
    await editor.send(await editor.begin(), [
      { type: 'text', text: 'Six files.' },
      { type: 'image', mimeType: 'image/png', data: PNG, uri: `file://${FOLDER}/a%20b.png` },
      { type: 'audio', mimeType: 'audio/wav', data: WAV.toString('base64') },
      { type: 'resource', resource: { uri: `file://${FOLDER}/a.pdf`, mimeType: 'application/pdf', blob } },
      { type: 'resource', resource: { uri: `file://${FOLDER}/long.ts`, text: 'let a = 1;\n'.repeat(9_000) } },
      { type: 'resource', resource: { uri: `file://${FOLDER}/a.ts`, text: 'const a = 1;' } },
      { type: 'resource_link', name: 'k', uri: `artifact:${kept}` },
      { type: 'resource_link', name: 'b.ts', uri: `file://${FOLDER}/b.ts` },
      { type: 'resource_link', name: 'd.csv', uri: 'data:text/csv,a%2Cb', mimeType: 'text/csv' },
    ]);
    assert.deepEqual(await filesOf('Six files.'), [
      ['image/png', 'a b.png'],
      ['audio/wav', null],
      ['application/pdf', 'a.pdf'],
      ['text/plain', 'long.ts'],
      ['text/plain', 'kept.txt'],
      ['text/csv', 'd.csv'],
    ]);
    assert.match(editor.text(), /const a = 1;[^]*\[b\.ts\]\(file:[^]*\[attached: artifact:art_/);
    assert.doesNotMatch(editor.text(), /let a = 1/);
  });

  it('are a message of their own without words', async () => {
    const session = await editor.begin();
    await editor.send(session, [{ type: 'image', mimeType: 'image/png', data: PNG }]);
    assert.match(editor.text(), /^\[file\]\n\[attached: artifact:\S+, image\/png, \d+ bytes\]$/);
  });

  it('are refused with the reason', async () => {
    const session = await editor.begin();
    const image = { type: 'image', mimeType: 'image/png', data: PNG } as const;
    const hidden = await keep(Buffer.from('His.'), 'user=bob', 'text/plain');
    const refusals: readonly (readonly [ContentBlock[], RegExp])[] = [
      [[{ ...image, data: '&&&&' }], /image: the file is not base64/],
      [[{ ...image, data: Buffer.from('no picture').toString('base64') }], /not what its content type says/],
      [Array.from({ length: 11 }, () => image), /10 files, not 11/],
      [[{ type: 'resource_link', name: 'x', uri: `artifact:${hidden}` }], /There is no artifact/],
      [[{ type: 'text', text: ' ' }], /no text and no file/],
    ];
    for (const [prompt, words] of refusals)
      await assert.rejects(editor.send(session, prompt), words, String(words));
  });

  it('follow the answer that links them: what the person may read, by its kind and size', async () => {
    const ids = [
      await keep(Buffer.from(PNG, 'base64'), 'filename=p.png&user=ann', 'image/png'),
      await keep(Buffer.from('a,b'), 'filename=t.csv&user=ann', 'text/csv'),
      await keep(Buffer.from('%PDF-1.4\n'), 'filename=d.pdf', 'application/pdf'),
      await keep(
        Buffer.alloc(2_000_000, 'x'),
        `filename=${encodeURIComponent('gróß.txt')}&user=ann`,
        'text/plain',
      ),
      await keep(Buffer.from('His.'), 'filename=his.txt&user=bob', 'text/plain'),
    ];
    const [picture, table, paper, large] = ids.map((id) => `${stack.url}/v1/artifacts/${id}`);
    const sessionId = await editor.begin();
    await editor.say(sessionId, ids.map((id) => `[it](artifact:${id})`).join(', '));
    assert.deepEqual(editor.blocks(), [
      { type: 'image', data: PNG, mimeType: 'image/png', uri: picture },
      {
        type: 'resource',
        resource: { uri: table, mimeType: 'text/csv', text: 'a,b' },
        _meta: { filename: 't.csv' },
      },
      {
        type: 'resource',
        resource: {
          uri: paper,
          mimeType: 'application/pdf',
          blob: Buffer.from('%PDF-1.4\n').toString('base64'),
        },
        _meta: { filename: 'd.pdf' },
      },
      { type: 'resource_link', name: 'gróß.txt', uri: large, mimeType: 'text/plain', size: 2_000_000 },
    ]);
    // Whoever opens the session again gets them again.
    const shown = editor.blocks();
    editor.updates.length = 0;
    await editor.agent.request(methods.agent.session.load, { sessionId, cwd: FOLDER, mcpServers: [] });
    assert.deepEqual(editor.blocks(), shown);
    // What the editor got it may send back.
    const link = { type: 'resource_link', name: 'again', uri: String(large) } as const;
    await editor.send(await editor.begin(), [{ type: 'text', text: 'Back.' }, link]);
    assert.deepEqual(await filesOf('Back.'), [['text/plain', 'gróß.txt']]);
  });
});
