/** Keys that act anywhere on a page, and the list of them that `?` shows. */
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { useNewest } from './use-newest.ts';

export interface Shortcut {
  /** One key, or two after each other with a space between them: `g s`. */
  readonly keys: string;
  readonly label: string;
  /** Whether it acts again and again while it is held. */
  readonly repeats: boolean;
  run(): void;
}

export const shortcuts = signal<readonly Shortcut[]>([]);

/** Longest pause between two keys that belong together. */
const PAUSE_MS = 1_000;

/** Acts on what is shown when the key is pressed. */
export function useShortcut(keys: string, label: string, run: () => void, repeats = false): void {
  const newest = useNewest(run);
  // A key that follows at once acts on what has just been shown.
  useLayoutEffect(() => {
    const added = { keys, label, repeats, run: () => newest.current() };
    shortcuts.value = [...shortcuts.peek(), added];
    return () => {
      shortcuts.value = shortcuts.peek().filter((one) => one !== added);
    };
  }, [keys, label, newest, repeats]);
}

/** `j` and `k` choose the next of a list and the one before. */
export function useListKeys(
  keys: readonly string[],
  chosen: string | undefined,
  choose: (key: string) => void,
): void {
  const move = (by: number): void => {
    const next = keys[Math.min(keys.length - 1, Math.max(0, keys.indexOf(chosen ?? '') + by))];
    if (next !== undefined) choose(next);
  };
  useShortcut('j', 'Next', () => move(1), true);
  useShortcut('k', 'Previous', () => move(-1), true);
}

export function startShortcuts(): void {
  let first = { key: '', at: 0 };
  window.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) return sendForm(event);
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    // A dialog has keys of its own.
    if (document.querySelector('dialog[open]')) return;
    const pair = performance.now() - first.at < PAUSE_MS ? `${first.key} ${event.key}` : '';
    first = { key: event.key, at: performance.now() };
    const all = shortcuts.peek();
    const found = all.findLast(({ keys }) => keys === pair) ?? all.findLast(({ keys }) => keys === event.key);
    if (!found) return;
    event.preventDefault();
    if (!event.repeat || found.repeats) found.run();
  });
}

/** Enter alone makes a new line where a text may have several. A button that is off sends nothing. */
function sendForm(event: KeyboardEvent): void {
  const form = event.target instanceof Element ? event.target.closest('form') : null;
  const button = form?.querySelector<HTMLButtonElement>('button[type="submit"]');
  if (!button || event.repeat) return;
  event.preventDefault();
  button.click();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}
