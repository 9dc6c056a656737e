/** The use of each day as lines, one for each agent, user or model. The table beside it has the figures. */
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Operations } from '@tempoclaw/client';
import { theme } from '../../app/theme.ts';

export const GROUPS = ['day', 'agent', 'user', 'model'] as const;
export const MEASURES = ['cost_usd', 'calls', 'input_tokens', 'output_tokens'] as const;

interface ChartProps {
  /** By day, and by `by`. */
  readonly answer: Operations['GET /v1/usage']['answer'];
  readonly by: (typeof GROUPS)[number];
  readonly of: (typeof MEASURES)[number];
}

/** Each is seen on light and on dark. */
const COLORS = ['#2f7fe0', '#c2571a', '#2b8a4b', '#9a55d3', '#b8860b', '#d0417e'];
const DAY_SECONDS = 86_400;
const HEIGHT = 220;

export function UsageChart({ answer, by, of }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const look = theme.value;
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const [names, data] = linesOf({ answer, by, of });
    const { color, paddingLeft, paddingRight } = getComputedStyle(current);
    const padding = Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight);
    const axis = {
      stroke: color,
      grid: { stroke: `color-mix(in srgb, ${color} 20%, transparent)`, width: 1 },
    };
    const lines = names.map((label, at) => ({ label, stroke: COLORS[at] ?? color, points: { show: true } }));
    const size = () => ({ width: current.clientWidth - padding, height: HEIGHT });
    const options = {
      ...size(),
      tzDate: (seconds: number) => UPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
      series: [{}, ...lines],
      axes: [axis, { ...axis, size: 70 }],
      scales: { y: { range: (_chart: UPlot, _min: number, max: number): [number, number] => [0, max || 1] } },
    };
    const chart = new UPlot(options, data, current);
    const sizes = new ResizeObserver(() => chart.setSize(size()));
    sizes.observe(current);
    return () => {
      sizes.disconnect();
      chart.destroy();
    };
  }, [answer, by, of, look]);
  return (
    <div ref={box} class="panel chart" role="img" aria-label={`${of} by day; the table has the figures`} />
  );
}

/** The names that have used the most, and the use of each for all days of the answer. */
function linesOf({ answer: { from, to, data }, by, of }: ChartProps): [string[], UPlot.AlignedData] {
  const rows = Map.groupBy(data, (row) => (by === 'day' ? 'all' : row[by] || '–'));
  const sum = (name: string): number => rows.get(name)?.reduce((all, row) => all + (row[of] ?? 0), 0) ?? 0;
  const names = [...rows.keys()].toSorted((a, b) => sum(b) - sum(a)).slice(0, COLORS.length);
  const first = Date.parse(from) / 1_000;
  const count = (Date.parse(to) / 1_000 - first) / DAY_SECONDS + 1;
  const days = Array.from({ length: count }, (_, at) => first + at * DAY_SECONDS);
  const lines = names.map((name) => {
    const used = new Map(rows.get(name)?.map((row) => [Date.parse(row.day ?? from) / 1_000, row[of] ?? 0]));
    return days.map((day) => used.get(day) ?? 0);
  });
  return [names, [days, ...lines]];
}
