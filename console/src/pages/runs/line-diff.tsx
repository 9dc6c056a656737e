/** Two texts as one, with the lines that only one of them has. */
import { ExactText } from '../../components/exact-text.tsx';

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Pairs of lines that are compared at most; larger parts show as replaced. */
const MAX_PAIRS = 1_000_000;
/** Lines that are shown. */
const MAX_LINES = 2_000;

export function LineDiff({ label, from, to }: Readonly<Record<'label' | 'from' | 'to', string>>) {
  const lines = diffLines(from.split('\n'), to.split('\n'));
  return (
    <pre aria-label={label}>
      {lines.slice(0, MAX_LINES).map(({ sign, text }, at) => (
        <span key={at} class={sign === '-' ? 'bad' : sign === '+' ? 'good' : ''}>
          {sign} <ExactText text={text} />
          {'\n'}
        </span>
      ))}
      {lines.length > MAX_LINES && `… ${lines.length - MAX_LINES} more lines`}
    </pre>
  );
}

/** Equal beginnings and ends are taken off first; the rest is the longest common sequence of lines. */
export function diffLines(from: readonly string[], to: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end))
    end += 1;
  const same = (text: string): Line => ({ sign: ' ', text });
  return [
    ...from.slice(0, start).map(same),
    ...diffMiddle(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...from.slice(from.length - end).map(same),
  ];
}

function diffMiddle(from: readonly string[], to: readonly string[]): readonly Line[] {
  const removed = (text: string): Line => ({ sign: '-', text });
  const added = (text: string): Line => ({ sign: '+', text });
  if (from.length * to.length > MAX_PAIRS) return [...from.map(removed), ...to.map(added)];
  // At [a, b]: the length of the longest common sequence of what is behind line a and line b.
  const width = to.length + 1;
  const lengths = new Uint32Array((from.length + 1) * width);
  const lengthAt = (a: number, b: number): number => lengths[a * width + b] ?? 0;
  for (let a = from.length - 1; a >= 0; a -= 1)
    for (let b = to.length - 1; b >= 0; b -= 1)
      lengths[a * width + b] =
        from[a] === to[b] ? lengthAt(a + 1, b + 1) + 1 : Math.max(lengthAt(a + 1, b), lengthAt(a, b + 1));
  const lines: Line[] = [];
  let [a, b] = [0, 0];
  while (a < from.length && b < to.length) {
    const [old = '', next = ''] = [from[a], to[b]];
    const isSame = old === next;
    const isRemoved = isSame || lengthAt(a + 1, b) >= lengthAt(a, b + 1);
    lines.push(isSame ? { sign: ' ', text: old } : isRemoved ? removed(old) : added(next));
    a += isRemoved ? 1 : 0;
    b += isSame || !isRemoved ? 1 : 0;
  }
  return [...lines, ...from.slice(a).map(removed), ...to.slice(b).map(added)];
}
