/** create_video: a job of MiniMax is ordered once, polled until it is done, and cancelled where possible. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '../tools/create-video.ts';
import { madeAt, mediaBench } from './media-bench.ts';
import { MP4, PNG } from '#test/support/media-server.ts';

const LATER = { ok: true, text: '', pending: { later: 1 } };

describe('TL create_video', () => {
  test('orders a job, looks at it, and keeps what it has made', async (t) => {
    const bench = await mediaBench(t);
    const args = { prompt: 'An otter dives', duration: 4, aspect_ratio: '9:16' };
    assert.deepEqual(await bench.run(tool, args), LATER);
    assert.deepEqual(bench.server.seen[0]?.body, {
      model: 'MiniMax-H3',
      content: [{ type: 'text', text: 'An otter dives' }],
      resolution: '768P',
      duration: 4,
      ratio: '9:16',
    });
    const remaining = bench.left() ?? assert.fail();
    assert.equal(remaining.task, 'job-1');
    assert.deepEqual(await bench.run(tool, args, { left: remaining }), LATER);
    bench.server.finish();
    const { path } = madeAt(await bench.run(tool, args, { left: remaining }));
    assert.match(path, /\/video-0123456789ab\.mp4$/);
    assert.deepEqual(await bench.read(path), MP4);
    // Its key is for its API, not for where it stores the result.
    assert.equal(
      bench.server.seen.find(({ line }) => line.startsWith('GET /files/'))?.headers.authorization,
      undefined,
    );
    assert.equal(bench.server.jobs.size, 1);
  });

  test('DU-7 what the provider counts is what is settled', async (t) => {
    const bench = await mediaBench(t);
    bench.server.finish();
    await bench.run(tool, { prompt: 'An otter', duration: 8 });
    madeAt(
      await bench.run(tool, { prompt: 'An otter', duration: 8 }, { left: bench.left() ?? assert.fail() }),
    );
    assert.deepEqual(bench.reserved.get('minimax/MiniMax-H3'), { tokens: 0, usd: 0.64 });
    assert.equal(bench.settled.get('minimax/MiniMax-H3')?.spent?.usd, 0.32);
  });

  test('begins with a picture of the workspace; what is none is refused before anything is ordered', async (t) => {
    const bench = await mediaBench(t);
    await bench.write('otter.png', PNG);
    await bench.write('notes.txt', Buffer.from('no picture'));
    await bench.run(tool, { prompt: 'It dives', image_path: 'otter.png' });
    const { content, ratio } = bench.server.seen[0]?.body ?? {};
    assert.deepEqual(content[1], {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` },
      role: 'first_frame',
    });
    assert.equal(ratio, 'adaptive');
    const text = await bench.run(tool, { prompt: 'x', image_path: 'notes.txt' });
    assert.equal(!text.ok && text.code, 'InvalidArgs');
    const none = await bench.run(tool, { prompt: 'x', image_path: 'nothing.png' });
    assert.equal(!none.ok && none.code, 'FileNotFound');
    const outside = await bench.run(tool, { prompt: 'x', image_path: '../../etc/passwd' });
    assert.equal(!outside.ok && outside.code, 'InvalidPath');
    assert.equal(bench.server.jobs.size, 1);
  });

  test('a provider that is away for a while is asked for the job again, and for no other', async (t) => {
    const bench = await mediaBench(t);
    await bench.run(tool, { prompt: 'An otter' });
    const remaining = bench.left() ?? assert.fail();
    bench.server.failing.set('GET /v2/query', 503);
    assert.deepEqual(await bench.run(tool, { prompt: 'An otter' }, { left: remaining }), LATER);
    bench.server.failing.clear();
    bench.server.finish();
    bench.server.failing.set('GET /files/', 500);
    assert.deepEqual(await bench.run(tool, { prompt: 'An otter' }, { left: remaining }), LATER);
    bench.server.failing.clear();
    madeAt(await bench.run(tool, { prompt: 'An otter' }, { left: remaining }));
    assert.equal(bench.server.jobs.size, 1);
  });

  test('a job that has failed is told, costs nothing, and the next of the chain is asked', async (t) => {
    const bench = await mediaBench(t);
    bench.server.finish('failed');
    await bench.run(tool, { prompt: 'An otter' });
    const first = bench.left() ?? assert.fail();
    assert.deepEqual(await bench.run(tool, { prompt: 'An otter' }, { left: first }), LATER);
    assert.equal(bench.settled.get('minimax/MiniMax-H3')?.spent?.usd, 0);
    const second = bench.left() ?? assert.fail();
    assert.deepEqual(await bench.run(tool, { prompt: 'An otter' }, { left: second }), {
      ok: false,
      code: 'ExecutionFailed',
      message:
        'it was not made. minimax/MiniMax-H3: its job has failed: it is too scary; minimax/MiniMax-Hailuo-2.3: its job has failed',
    });
  });

  test('a Hailuo model is asked over API v1, and what it makes is fetched by its file', async (t) => {
    const bench = await mediaBench(t, { media: { video: ['minimax/MiniMax-Hailuo-02'] } });
    await bench.write('otter.png', PNG);
    const args = { prompt: 'It dives', image_path: 'otter.png' };
    assert.deepEqual(await bench.run(tool, args), LATER);
    assert.deepEqual(bench.server.seen[0], {
      ...bench.server.seen[0],
      line: 'POST /v1/video_generation',
      body: {
        model: 'MiniMax-Hailuo-02',
        prompt: 'It dives',
        duration: 10,
        first_frame_image: `data:image/png;base64,${PNG.toString('base64')}`,
      },
    });
    const remaining = bench.left() ?? assert.fail();
    assert.deepEqual(await bench.run(tool, args, { left: remaining }), LATER);
    const stopped = await bench.run(tool, args, { left: remaining, isStopped: true });
    assert.match(stopped.ok ? '' : stopped.message, /could not take its job back/);
    bench.server.finish();
    const { path } = madeAt(await bench.run(tool, args, { left: remaining }));
    assert.deepEqual(await bench.read(path), MP4);
    assert.equal(bench.server.jobs.size, 1);
  });

  test('where MiniMax has no API v2 its v1 makes the video, which is no other provider', async (t) => {
    const bench = await mediaBench(t);
    bench.server.failing.set('POST /v2/', 404);
    await bench.run(tool, { prompt: 'An otter', duration: 4 });
    bench.server.finish();
    const { text } = madeAt(
      await bench.run(tool, { prompt: 'An otter', duration: 4 }, { left: bench.left() ?? assert.fail() }),
    );
    assert.match(
      text,
      /^Made by minimax\/MiniMax-Hailuo-2\.3: .*\n\[before it minimax\/MiniMax-H3: it answered 404/,
    );
  });

  test('a stop cancels a job that is not begun, and says so of one that is', async (t) => {
    const bench = await mediaBench(t);
    for (const [state, words] of [
      ['queued', /has cancelled its job$/],
      ['running', /could not take its job back; it may be charged for$/],
    ] as const) {
      await bench.run(tool, { prompt: state });
      const remaining = bench.left() ?? assert.fail();
      const job = bench.server.jobs.get(remaining.task ?? '') ?? assert.fail();
      job.state = state;
      const result = await bench.run(tool, { prompt: state }, { left: remaining, isStopped: true });
      assert.ok(!result.ok);
      assert.equal(result.code, 'Cancelled');
      assert.match(result.message, words);
    }
    assert.deepEqual(
      [...bench.server.jobs.values()].map(({ state }) => state),
      ['cancelled', 'running'],
    );
  });

  test('DU-2 an order whose answer was lost is unknown: its list does not say what was asked for', async (t) => {
    const bench = await mediaBench(t);
    const remaining = { since: Date.now(), asks: 0, order: { ref: 'minimax/MiniMax-H3', failed: [] } };
    const result = await bench.run(tool, { prompt: 'An otter' }, { left: remaining });
    assert.ok(!result.ok);
    assert.equal(result.code, 'OutcomeUnknown');
    assert.equal(bench.server.jobs.size, 0);
  });

  test('a job that is not done within an hour is cancelled and waited for no longer', async (t) => {
    const bench = await mediaBench(t);
    await bench.run(tool, { prompt: 'An otter' });
    const remaining = { ...(bench.left() ?? assert.fail()), since: Date.now() - 3_700_000 };
    const result = await bench.run(tool, { prompt: 'An otter' }, { left: remaining });
    assert.equal(!result.ok && result.code, 'Timeout');
    assert.equal(bench.server.jobs.get('job-1')?.state, 'cancelled');
  });

  test('other durations are refused', async (t) => {
    const bench = await mediaBench(t);
    const result = await bench.run(tool, { prompt: 'An otter', duration: 5 });
    assert.equal(!result.ok && result.code, 'InvalidArgs');
  });
});
