/** Stops what a session does, at one of three levels. */
import { useId } from 'preact/hooks';
import { problemText } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { notify } from '../../app/toasts.tsx';

const LEVELS = [
  ['step', 'After this step'],
  ['now', 'Now'],
  ['all', 'Now, and drop what waits'],
] as const;

export function StopButtons({ session }: { readonly session: string }) {
  const id = useId();
  const stop = async (level: (typeof LEVELS)[number][0]): Promise<void> => {
    const result = await request('POST /v1/sessions/{key}/stop', {
      params: { key: session },
      body: { level },
    });
    if (!result.ok) notify('failed', problemText(result.problem));
  };
  return (
    <>
      <button type="button" popovertarget={id} disabled={!may('run')}>
        Stop…
      </button>
      <div id={id} popover="auto" class="popover">
        {LEVELS.map(([level, label]) => (
          <p key={level}>
            <button
              type="button"
              popovertarget={id}
              popovertargetaction="hide"
              onClick={() => void stop(level)}
            >
              {label}
            </button>
          </p>
        ))}
      </div>
    </>
  );
}
