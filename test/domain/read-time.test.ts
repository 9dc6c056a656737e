/** Times in ISO 8601 as models write them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTimeSchema } from '#domain/schema/scalars.ts';

test('a day is its first moment, a time without an offset is in UTC, whatever the zone of the process', () => {
  for (const [text, time] of [
    ['2026-05-01', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01T09:00', '2026-05-01T09:00:00.000Z'],
    ['2026-05-01 09:00:30', '2026-05-01T09:00:30.000Z'],
    ['2026-05-01T09:00Z', '2026-05-01T09:00:00.000Z'],
    ['2026-05-01T09:00:00.5+02:00', '2026-05-01T07:00:00.500Z'],
    [' 2024-02-29 ', '2024-02-29T00:00:00.000Z'],
  ])
    assert.equal(readTimeSchema.parse(text), time, text);
});

test('what is no time is refused with an example', () => {
  for (const text of ['', 'yesterday', '2026', '2026-02-30', '2026-13-01', '2026-05-01T25:00', '1777626000'])
    assert.match(String(readTimeSchema.safeParse(text).error?.message), /such as 2026-05-01T09:00:00Z/, text);
});
