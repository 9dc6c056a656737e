import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createWorkerWatch, SILENT_MS, WORKER_BEAT_MS } from '#domain/worker-watch.ts';

const at = (step: number): number => 1_000_000 + step * WORKER_BEAT_MS;

describe('DU-2 the beats of workers', () => {
  it('a worker whose beat stays the same for two seconds is lost, until its row is gone', () => {
    const watch = createWorkerWatch();
    const lost = [0, 1, 2, 3, 4, 5].map((step) =>
      watch.read(
        [
          { id: 'dead', beat: 7 },
          { id: 'alive', beat: step },
        ],
        at(step),
      ),
    );
    assert.deepEqual(lost, [[], [], [], [], ['dead'], ['dead']]);
    assert.deepEqual(watch.read([], at(6)), []);
  });

  it('a time in which this worker read nothing counts little: nobody may have been able to beat', () => {
    const watch = createWorkerWatch();
    const read = (step: number) => watch.read([{ id: 'other', beat: 7 }], at(step));
    assert.deepEqual([0, 20, 21, 22, 23].map(read), [[], [], [], [], ['other']]);
  });

  it('a worker that beats at least once in two seconds is never lost, however irregular all of them are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 60 }), (gaps) => {
        const watch = createWorkerWatch();
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const beat = Math.floor(now / (SILENT_MS - 1));
          assert.deepEqual(watch.read([{ id: 'other', beat }], now), []);
        }
      }),
    );
  });
});
