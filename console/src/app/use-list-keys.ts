/** `j` and `k` choose the next of a list and the one before. */
import { useCallback } from 'preact/hooks';
import { useShortcut } from './shortcuts.ts';
import { useNewest } from './use-newest.ts';

export function useListKeys(
  keys: readonly string[],
  chosen: string | undefined,
  choose: (key: string) => void,
): void {
  const newest = useNewest({ keys, chosen, choose });
  const move = useCallback(
    (by: number): void => {
      const { keys: all, chosen: from, choose: take } = newest.current;
      const at = all.indexOf(from ?? '');
      const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
      if (next !== undefined) take(next);
    },
    [newest],
  );
  useShortcut(
    'j',
    'Next',
    useCallback(() => move(1), [move]),
    true,
  );
  useShortcut(
    'k',
    'Previous',
    useCallback(() => move(-1), [move]),
    true,
  );
}
