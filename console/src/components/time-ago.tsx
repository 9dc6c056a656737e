/** How long ago a time was; its full form is the title. */
import { signal } from '@preact/signals';

const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 10_000);

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
