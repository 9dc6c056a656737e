/** Amounts, times and money, for people. */

export function amountText(measure: string, amount: number): string {
  if (measure === 'usd') return moneyText(amount);
  const rounded = Math.round(amount * 10) / 10;
  return `${rounded.toLocaleString('en')} ${measure === 'seconds' ? 's' : measure}`;
}

export function moneyText(usd: number | null): string {
  if (usd === null) return 'price unknown';
  return `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`;
}

export function durationText(ms: number): string {
  if (Math.round(ms) < 1) return '< 1 ms';
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 100_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
