/** Stops what a session does, at one of three levels. */
import { request } from '../../api/request.ts';
import { report } from '../../app/toasts.tsx';
import { Button, Popover } from '../../components/button.tsx';

const LEVELS = [
  ['step', 'After this step'],
  ['now', 'Now'],
  ['all', 'Now, and drop what waits'],
] as const;

export function StopButtons({ session }: { readonly session: string }) {
  const stop = async (level: (typeof LEVELS)[number][0]): Promise<void> => {
    report(await request('POST /v1/sessions/{key}/stop', { params: { key: session }, body: { level } }));
  };
  return (
    <Popover label="Stop…" scope="run">
      {(closing) =>
        LEVELS.map(([level, label]) => (
          <p key={level}>
            <Button {...closing} onClick={() => void stop(level)}>
              {label}
            </Button>
          </p>
        ))
      }
    </Popover>
  );
}
