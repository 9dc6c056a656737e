/** Short notices about what has happened, read out by screen readers. */
import { signal } from '@preact/signals';
import { problemText, type Result } from '../api/problem.ts';
import { Button } from '../components/button.tsx';

interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

const toasts = signal<readonly Toast[]>([]);
let count = 0;

const SHOWN_MS = 6_000;
const MAX_SHOWN = 4;

export function notify(kind: Toast['kind'], text: string): void {
  count += 1;
  const toast = { id: count, kind, text };
  toasts.value = [...toasts.peek(), toast].slice(-MAX_SHOWN);
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

/** Says what has become of a request; returns whether it was done. */
export function report(result: Result<unknown>, done?: string): boolean {
  if (!result.ok) notify('failed', problemText(result.problem));
  else if (done) notify('done', done);
  return result.ok;
}

function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast is-${kind}`}>
          <span>{text}</span>
          <Button class="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  );
}
