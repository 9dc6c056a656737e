/** Keys that act anywhere on a page, and the list of them that `?` shows. */
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

export interface Shortcut {
  /** One key, or two after each other with a space between them: `g s`. */
  readonly keys: string;
  readonly label: string;
  /** Whether it acts again and again while it is held. */
  readonly repeats?: boolean;
  run(): void;
}

export const shortcuts = signal<readonly Shortcut[]>([]);

/** Longest pause between two keys that belong together. */
const PAUSE_MS = 1_000;

export function useShortcut(keys: string, label: string, run: () => void, repeats = false): void {
  // A key that follows at once acts on what has just been shown.
  useLayoutEffect(() => {
    const added = { keys, label, run, repeats };
    shortcuts.value = [...shortcuts.peek(), added];
    return () => {
      shortcuts.value = shortcuts.peek().filter((one) => one !== added);
    };
  }, [keys, label, run, repeats]);
}

export function startShortcuts(): void {
  let first = { key: '', at: 0 };
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    // A dialog has keys of its own.
    if (document.querySelector('dialog[open]')) return;
    const pair = performance.now() - first.at < PAUSE_MS ? `${first.key} ${event.key}` : '';
    first = { key: event.key, at: performance.now() };
    const found =
      shortcuts.peek().findLast(({ keys }) => keys === pair) ??
      shortcuts.peek().findLast(({ keys }) => keys === event.key);
    if (!found) return;
    event.preventDefault();
    if (!event.repeat || found.repeats) found.run();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}
