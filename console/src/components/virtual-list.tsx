/** A long list of which only the rows in sight are in the document. Rows may have any height. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';

interface VirtualListProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly children: (item: Item) => ComponentChildren;
  /** Names the list for screen readers. */
  readonly label: string;
  /** Height in pixels of a row that was not shown yet. */
  readonly estimate: number;
  /** Stays at the end while rows are added there, until the person scrolls up. */
  readonly follows?: boolean;
  /** Called when the end comes in sight. */
  readonly onEnd?: () => void;
  /** The key of a row that comes in sight when it is another one than before. */
  readonly shown?: string;
}

/** Pixels beyond the edges whose rows are also in the document. */
const MARGIN = 600;
/** This near to the end counts as the end. */
const NEAR_END = 48;

export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items, keyOf, estimate, follows = false, onEnd, shown } = props;
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const isAtEnd = useRef(follows);
  const lastTop = useRef(0);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const rows = useRef<ResizeObserver | undefined>(undefined);
  rows.current ??= new ResizeObserver((entries) => {
    let isOther = false;
    for (const { target, borderBoxSize } of entries) {
      const key = target instanceof HTMLElement ? target.dataset['key'] : undefined;
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (key === undefined || !target.isConnected) continue;
      isOther ||= Math.abs((heights.current.get(key) ?? estimate) - height) >= 1;
      heights.current.set(key, height);
    }
    // Rows that are as high as was assumed are drawn once.
    if (isOther) redraw(undefined);
  });

  useEffect(() => {
    const observer = new ResizeObserver(() => redraw(undefined));
    if (box.current) observer.observe(box.current);
    return () => {
      observer.disconnect();
      rows.current?.disconnect();
    };
  }, []);

  const { scrollTop = 0, clientHeight = 800 } = box.current ?? {};
  const heightOf = (item: Item): number => heights.current.get(keyOf(item)) ?? estimate;
  let above = 0;
  let first = 0;
  while (first < items.length && above + heightOf(items[first] as Item) < scrollTop - MARGIN) {
    above += heightOf(items[first] as Item);
    first += 1;
  }
  let end = first;
  let bottom = above;
  while (end < items.length && bottom < scrollTop + clientHeight + MARGIN) {
    bottom += heightOf(items[end] as Item);
    end += 1;
  }
  const below = items.slice(end).reduce((sum, item) => sum + heightOf(item), 0);

  const shownAt = shown === undefined ? -1 : items.findIndex((item) => keyOf(item) === shown);
  useLayoutEffect(() => {
    const isDrawn = shownAt < 0 || (shownAt >= first && shownAt < end);
    if (isDrawn || !box.current) return;
    const top = items.slice(0, shownAt).reduce((sum, item) => sum + heightOf(item), 0);
    box.current.scrollTop = top - clientHeight / 2;
  }, [shown, shownAt >= 0]);
  useLayoutEffect(() => {
    if (follows && isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  useEffect(() => {
    if (end === items.length && items.length > 0) onEnd?.();
  }, [end, items.length, onEnd]);

  const onScroll = (): void => {
    const { current } = box;
    if (!current) return;
    const isNearEnd = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_END;
    // Rows that grow move the end away; only a person moves the list up.
    if (isNearEnd || current.scrollTop < lastTop.current) isAtEnd.current = isNearEnd;
    lastTop.current = current.scrollTop;
    redraw(undefined);
  };

  return (
    // The keyboard scrolls it.
    <div ref={box} class="virtual-list" role="list" aria-label={props.label} tabIndex={0} onScroll={onScroll}>
      <div style={{ height: `${above}px` }} />
      {items.slice(first, end).map((item, index) => (
        <Row
          key={keyOf(item)}
          name={keyOf(item)}
          position={first + index + 1}
          count={items.length}
          observer={rows.current}
        >
          {props.children(item)}
        </Row>
      ))}
      <div style={{ height: `${below}px` }} />
    </div>
  );
}

function Row(props: {
  readonly name: string;
  readonly position: number;
  readonly count: number;
  readonly observer: ResizeObserver | undefined;
  readonly children: ComponentChildren;
}) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = row;
    if (!current) return undefined;
    props.observer?.observe(current);
    return () => props.observer?.unobserve(current);
  }, [props.observer]);
  return (
    <div
      ref={row}
      role="listitem"
      data-key={props.name}
      aria-posinset={props.position}
      aria-setsize={props.count}
    >
      {props.children}
    </div>
  );
}
