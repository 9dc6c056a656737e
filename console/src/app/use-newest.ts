/** Holds the value of the newest drawing, for functions that stay the same. */
import { useRef } from 'preact/hooks';

export function useNewest<Value>(value: Value): { readonly current: Value } {
  const newest = useRef(value);
  newest.current = value;
  return newest;
}
