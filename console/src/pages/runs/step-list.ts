/** The steps of a turn, read page by page as they come in sight, and again from the first that is not over. */
import { signal } from '@preact/signals';
import type { Problem } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import type { Step } from './timeline.ts';

const PAGE = 200;

export function createStepList(turn: string) {
  const all = signal<readonly Step[]>([]);
  /** Whether the newest step is among them. */
  const isWhole = signal(false);
  const problem = signal<Problem | undefined>(undefined);
  const closing = new AbortController();
  let queue: Promise<void> = Promise.resolve();
  let pending: { readonly work: boolean } | undefined;

  /** Replaces what is there behind a step by the next page; false when there is no more, or it could not be read. */
  async function read(after: number): Promise<boolean> {
    const query = { limit: PAGE, after_step: after };
    const result = await request(
      'GET /v1/turns/{id}/steps',
      { params: { id: turn }, query },
      { signal: closing.signal },
    );
    problem.value = result.ok ? undefined : result.problem;
    if (!result.ok) return false;
    const { data, has_more: hasMore } = result.data;
    const last = data.at(-1)?.step ?? after;
    const later = hasMore ? all.value.filter(({ step }) => step > last) : [];
    all.value = [...all.value.filter(({ step }) => step <= after), ...data, ...later];
    if (!hasMore) isWhole.value = true;
    return hasMore;
  }

  const lastStep = (): number => all.value.at(-1)?.step ?? 0;
  const enqueue = (work: () => Promise<void>): void => {
    // It is only rejected when nobody needs it any more.
    queue = queue.then(work).catch(() => undefined);
  };

  return {
    all,
    isWhole,
    problem,
    /** Reads on until this step is there. */
    readTo(step: number): void {
      enqueue(async () => {
        while (!isWhole.value && lastStep() < step && (await read(lastStep())));
      });
    },
    more(): void {
      enqueue(async () => {
        if (!isWhole.value) await read(lastStep());
      });
    },
    /** Reads again what may have changed; with `work`, also steps whose calls are over but not what they gave away. */
    refresh(work: boolean): void {
      const isQueued = pending !== undefined;
      pending = { work: work || pending?.work === true };
      if (isQueued) return;
      enqueue(async () => {
        const withWork = pending?.work === true;
        pending = undefined;
        // The pages that are read later are new then.
        if (!isWhole.value) return;
        const open = all.value.find(({ calls }) =>
          calls.some((call) => call.state !== 'done' || (withWork && call.work.some((one) => !one.ended_at))),
        );
        let after = open ? open.step - 1 : lastStep();
        while (await read(after)) after = Math.min(after + PAGE, lastStep());
      });
    },
    close: (): void => closing.abort(),
  };
}
