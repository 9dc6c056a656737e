import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createPayloadCodec, dataConverterOf } from '#temporal/payload-codec.ts';

const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"words":"plain"}') };
const newKey = (): string => randomBytes(32).toString('base64');

describe('SECURITY B2 payloads under AES-256-GCM', () => {
  test('a payload goes through and back, and is unreadable between', async () => {
    const codec = createPayloadCodec([newKey()]);
    const [encrypted] = await codec.encode([payload]);
    assert.ok(encrypted);
    assert.equal(Buffer.from(encrypted.metadata?.['encoding'] ?? []).toString(), 'binary/encrypted');
    assert.ok(!Buffer.from(encrypted.data ?? []).includes('plain'));
    const [decrypted] = await codec.decode([encrypted]);
    assert.equal(Buffer.from(decrypted?.data ?? []).toString(), '{"words":"plain"}');
    assert.equal(Buffer.from(decrypted?.metadata?.['encoding'] ?? []).toString(), 'json/plain');
  });

  test('payloads from before encryption was on are still read', async () => {
    assert.deepEqual(await createPayloadCodec([newKey()]).decode([payload]), [payload]);
  });

  test('keys rotate: the old one decrypts, the new one encrypts', async () => {
    const [old, next] = [newKey(), newKey()];
    const before = await createPayloadCodec([old]).encode([payload]);
    const rotated = createPayloadCodec([next, old]);
    const [read] = await rotated.decode(before);
    assert.equal(Buffer.from(read?.data ?? []).toString(), '{"words":"plain"}');
    await assert.rejects(createPayloadCodec([old]).decode(await rotated.encode([payload])), /not configured/);
  });

  test('a changed byte is refused', async () => {
    const codec = createPayloadCodec([newKey()]);
    const [encrypted] = await codec.encode([payload]);
    const data = Buffer.from(encrypted?.data ?? []);
    data[20] = (data[20] ?? 0) ^ 1;
    await assert.rejects(codec.decode([{ ...encrypted, data }]));
  });

  test('without a key payloads are plain', () => {
    assert.equal(dataConverterOf({ previousKeys: [] }), undefined);
    assert.ok(dataConverterOf({ key: newKey(), previousKeys: [] })?.payloadCodecs?.length);
  });
});
