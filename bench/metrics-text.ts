/** Reads metrics in Prometheus' text format. */

export interface Metrics {
  /** Sums the samples of a metric whose labels have these values. A counter's name may end in `_total`. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

export async function readMetrics(url: string): Promise<Metrics> {
  const lines = (await (await fetch(url)).text()).split('\n');
  return {
    sum(name, labels = {}) {
      let sum = 0;
      for (const line of lines) {
        const [, metric, of = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
        if (metric !== name && metric !== `${name}_total`) continue;
        if (Object.entries(labels).every(([label, text]) => of.includes(`${label}="${text}"`)))
          sum += Number(value);
      }
      return sum;
    },
  };
}
