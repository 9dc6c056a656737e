/**
 * Makes pictures with DashScope, as its asynchronous tasks. A task that has not started can be cancelled. A finished
 * task contains its request, so that an order whose answer was lost can be found among those of the last day.
 */
import type { ImageRatio } from '../contract.ts';
import { isRecord } from '#domain/outside-value.ts';
import { LATER, type MediaAccess, type MediaMaker, sendForJson, textAt, valueAt } from './media-maker.ts';

/** Sizes within its limits of pixels (768x768 to 1440x1440). */
const SIZES: Readonly<Record<ImageRatio, string>> = {
  '1:1': '1280*1280',
  '3:4': '1104*1472',
  '4:3': '1472*1104',
  '9:16': '960*1696',
  '16:9': '1696*960',
};
/** How much its clock and ours may differ, and how long an order may take to be listed. */
const AROUND_MS = 120_000;
const PAGE = 100;
/** Tasks of the relevant time that are checked. */
const MAX_FOUND = 20;
const WORKS = ['PENDING', 'RUNNING'];

export const dashscope: MediaMaker = {
  async order(access, { model, request }) {
    const ordered = await sendForJson(access, '/services/aigc/text2image/image-synthesis', {
      headers: { 'x-dashscope-async': 'enable' },
      body: {
        model,
        input: { prompt: request.prompt },
        parameters: { n: 1, size: SIZES[request.ratio ?? '1:1'] },
      },
    });
    return { job: textAt(ordered, 'output', 'task_id') };
  },

  jobs: {
    kinds: ['image'],

    async look(access, job) {
      const output = await taskOf(access, job);
      const status = textAt(output, 'task_status');
      if (WORKS.includes(status)) return 'running';
      if (status === 'SUCCEEDED') return { url: textAt(output, 'results', 0, 'url') };
      return { failed: `its task is ${status}: ${String(valueAt(output, 'message') ?? '')}` };
    },

    async cancel(access, job) {
      await sendForJson(access, `/tasks/${encodeURIComponent(job)}/cancel`, { method: 'POST' });
    },

    async find(access, { model, request }, since) {
      const path = `/tasks/?model_name=${encodeURIComponent(model)}&page_no=1&page_size=${PAGE}`;
      const { data } = await sendForJson(access, path);
      const tasks = (Array.isArray(data) ? data : [])
        .filter(isRecord)
        .filter(({ gmt_create: at }) => Math.abs(Number(at) - since) <= AROUND_MS)
        .slice(0, MAX_FOUND);
      let isOpen = false;
      for (const task of tasks) {
        const job = textAt(task, 'task_id');
        const output = await taskOf(access, job);
        if (valueAt(output, 'results', 0, 'orig_prompt') === request.prompt) return job;
        isOpen ||= WORKS.includes(textAt(output, 'task_status'));
      }
      return isOpen ? LATER : undefined;
    },
  },
};

async function taskOf(access: MediaAccess, job: string): Promise<unknown> {
  return (await sendForJson(access, `/tasks/${encodeURIComponent(job)}`))['output'];
}
