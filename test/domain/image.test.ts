/** Images of results: their type is detected from their bytes, within limits. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { IMAGE_BYTES, imageProblem, imageTokens, readImage } from '#domain/model/image.ts';
import { pngOf } from '#test/support/image-bytes.ts';

/** Files of 20x10 pixels, made by Pillow. */
const MADE = {
  'image/gif':
    'R0lGODdhFAAKAIEAAP8AAAAAAAAAAAAAACwAAAAAFAAKAEAIHgABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgjBgQAOw==',
  'image/jpeg':
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAARCAAKABQDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL',
} as const;

describe('TL an image', () => {
  for (const [type, data] of Object.entries(MADE))
    test(`${type}: type and size are those of its header`, () =>
      assert.deepEqual(readImage(Buffer.from(data, 'base64')), { type, width: 20, height: 10 }));

  test('image/png, and within a larger buffer', () => {
    const inner = new Uint8Array(Buffer.concat([Buffer.alloc(7), pngOf(300, 2)])).subarray(7);
    assert.deepEqual(readImage(inner), { type: 'image/png', width: 300, height: 2 });
  });

  for (const [kind, head, size] of [
    ['VP8X', [10, 0, 0, 0, 0, 0, 0, 0], [19, 0, 0, 9, 0, 0]],
    ['VP8 ', [10, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a], [20, 0, 10, 0]],
    ['VP8L', [10, 0, 0, 0, 0x2f], [19, 0x40, 2, 0, 0, 0, 0, 0, 0]],
  ] as const)
    test(`image/webp, ${kind}`, () => {
      const bytes = Buffer.concat([
        Buffer.from(`RIFF\x1a\0\0\0WEBP${kind}`, 'latin1'),
        Buffer.from([...head, ...size]),
      ]);
      assert.deepEqual(readImage(bytes), { type: 'image/webp', width: 20, height: 10 });
    });

  test('bytes of any other kind are none, whatever they are', () => {
    assert.equal(
      readImage(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')),
      undefined,
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        for (const start of ['', '\xff\xd8\xff\xe0', 'RIFF\0\0\0\0WEBPVP8 ', 'GIF89a', '\x89PNG\r\n\x1a\n'])
          imageProblem(readImage(Buffer.concat([Buffer.from(start, 'latin1'), noise])), noise.length);
      }),
    );
  });

  test('one that is too large is not shown, and one that is shown counts in the prompt', () => {
    const facts = { type: 'image/png', width: 1280, height: 800 } as const;
    assert.equal(imageProblem(facts, IMAGE_BYTES), undefined);
    assert.match(imageProblem(facts, IMAGE_BYTES + 1) ?? '', /more than/);
    assert.match(imageProblem({ ...facts, height: 8001 }, 1) ?? '', /8001 pixels/);
    assert.match(imageProblem({ ...facts, width: 0 }, 1) ?? '', /or none/);
    assert.equal(imageTokens([facts, { width: 75, height: 10 }]), 1367);
  });
});
