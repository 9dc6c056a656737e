/** How long ago a time was; its full form is the title. */
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 10_000);

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

export function TimeAgo({ at }: { readonly at: string }) {
  const seconds = Math.min(0, Math.round((Date.parse(at) - now.value) / 1_000));
  const [unit, size] = UNITS.find(([, length]) => -seconds >= length) ?? ['second', 1];
  const shown = -seconds < 10 ? 'now' : words.format(Math.round(seconds / size), unit);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {shown}
    </time>
  );
}

/** The time, again each `everyMs`; without that it stands still. */
export function useNow(everyMs: number | undefined): number {
  const time = useSignal(Date.now());
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => (time.value = Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, time]);
  return time.value;
}
