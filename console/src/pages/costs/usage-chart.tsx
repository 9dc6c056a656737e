/** The use of each day as lines, one for each agent, user or model. The table beside it has the figures. */
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Operations } from '../../api/operations.ts';
import { theme } from '../../app/theme.ts';

type Usage = Operations['GET /v1/usage']['answer'];

export type UsageMeasure = 'cost_usd' | 'calls' | 'input_tokens' | 'output_tokens';

interface ChartProps {
  /** By day, and by `by`. */
  readonly answer: Usage;
  readonly by: 'day' | 'agent' | 'user' | 'model';
  readonly measure: UsageMeasure;
  readonly label: string;
}

/** Each is seen on light and on dark. */
const COLORS = ['#2f7fe0', '#c2571a', '#2b8a4b', '#9a55d3', '#b8860b', '#d0417e'];
const DAY_SECONDS = 86_400;
const HEIGHT = 220;

export function UsageChart({ answer, by, measure, label }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const look = theme.value;
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const { names, data } = seriesOf(answer, by, measure);
    const color = getComputedStyle(current).color;
    const axis = {
      stroke: color,
      grid: { stroke: `color-mix(in srgb, ${color} 20%, transparent)`, width: 1 },
    };
    const chart = new UPlot(
      {
        width: current.clientWidth,
        height: HEIGHT,
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
        series: [
          {},
          ...names.map((name, at) => ({
            label: name,
            stroke: COLORS[at] ?? color,
            width: 2,
            points: { show: true },
          })),
        ],
        axes: [axis, { ...axis, size: 70 }],
        scales: { y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      },
      data,
      current,
    );
    const sizes = new ResizeObserver(() => chart.setSize({ width: current.clientWidth, height: HEIGHT }));
    sizes.observe(current);
    return () => {
      sizes.disconnect();
      chart.destroy();
    };
  }, [answer, by, measure, look]);
  return <div ref={box} class="chart" role="img" aria-label={`${label}; the table has the figures`} />;
}

/** All days of the answer, and the names that have used the most. */
function seriesOf({ from, to, data }: Usage, by: ChartProps['by'], measure: UsageMeasure) {
  const nameOf = (row: Usage['data'][number]): string => (by === 'day' ? 'all' : row[by] || '–');
  const rows = Map.groupBy(data, nameOf);
  const sum = (name: string): number =>
    rows.get(name)?.reduce((all, row) => all + (row[measure] ?? 0), 0) ?? 0;
  const names = [...rows.keys()].toSorted((a, b) => sum(b) - sum(a)).slice(0, COLORS.length);
  const days: number[] = [];
  for (let day = secondsOf(from); day <= secondsOf(to); day += DAY_SECONDS) days.push(day);
  const lines = names.map((name) => {
    const used = new Map(rows.get(name)?.map((row) => [secondsOf(row.day ?? from), row[measure] ?? 0]));
    return days.map((day) => used.get(day) ?? 0);
  });
  return { names, data: [days, ...lines] as UPlot.AlignedData };
}

function secondsOf(day: string): number {
  return Date.parse(day) / 1_000;
}
