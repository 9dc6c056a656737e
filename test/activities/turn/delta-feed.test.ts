/** SC-3: an answer that is shown while it is written contains no secret, wherever its pieces are cut. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { createScrubStream } from '@tempoclaw/scrubber';
import type { NewEvent } from '#domain/event.ts';
import { ModelError } from '#domain/model/model.ts';
import { createDeltaFeed } from '#activities/turn/delta-feed.ts';

const TOKEN = 'ghp_FAKEaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

describe('SC-3 pieces of an answer', () => {
  test('a secret in pieces is replaced, and words are shown as they end', async () => {
    const events: NewEvent[] = [];
    const feed = createDeltaFeed(
      (some) => {
        events.push(...some);
        return Promise.resolve();
      },
      { step: 1, attempt: 1, openStream: createScrubStream },
    );
    for (const piece of `Use ${TOKEN} for it, please `.match(/.{1,7}/g) ?? []) {
      feed.add(piece);
      mock.timers.tick(200);
    }
    await feed.close();
    const shown = events.map((event) => (event.data as { text: string }).text);
    assert.equal(shown.join(''), 'Use [REDACTED] for it, please ');
    assert.ok(shown.length > 2, 'shown bit by bit');
  });

  test('what was gathered of a void answer does not come back', async () => {
    const events: NewEvent[] = [];
    const feed = createDeltaFeed(
      (some) => {
        events.push(...some);
        return Promise.resolve();
      },
      { step: 1, attempt: 1, openStream: createScrubStream },
    );
    feed.add('half a wo');
    mock.timers.tick(200);
    feed.reset({ from: 'p/a', to: 'p/b', error: new ModelError('UnknownModel', 'no such model') });
    feed.add('whole ');
    mock.timers.tick(200);
    await feed.close();
    assert.deepEqual(events[1]?.data, { step: 1, attempt: 1, from: 'p/a', to: 'p/b', code: 'UnknownModel' });
    assert.deepEqual(
      events.map((event) => [event.type, (event.data as { text?: string }).text]),
      [
        ['message.delta', 'half a '],
        ['message.reset', undefined],
        ['message.delta', 'whole '],
      ],
    );
  });

  test('MO-1 what the model thinks comes before its words, whole and without secrets', async () => {
    const events: NewEvent[] = [];
    const feed = createDeltaFeed(
      (some) => {
        events.push(...some);
        return Promise.resolve();
      },
      { step: 1, attempt: 1, openStream: createScrubStream },
    );
    feed.think('They use ');
    mock.timers.tick(200);
    for (const piece of TOKEN.match(/.{1,7}/g) ?? []) feed.think(piece);
    feed.think(' for it');
    feed.add('So it ');
    mock.timers.tick(200);
    feed.think('x'.repeat(300_000));
    feed.think('No more.');
    await feed.close();
    const shown = events.map((event) => [event.type, (event.data as { text: string }).text] as const);
    assert.deepEqual(shown.slice(0, 3), [
      ['message.thinking', 'They use '],
      ['message.thinking', '[REDACTED] for it'],
      ['message.delta', 'So it '],
    ]);
    const thoughts = shown.flatMap(([type, text]) => (type === 'message.thinking' ? [text] : [])).join('');
    assert.equal(thoughts.replace('[REDACTED]', TOKEN).length, 200_000);
  });
});
