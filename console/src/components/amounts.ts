/** Amounts of budgets and uses, for people. */

export function amountText(measure: string, amount: number): string {
  if (measure === 'usd') return `$${amount.toFixed(amount !== 0 && amount < 0.1 ? 4 : 2)}`;
  const rounded = Math.round(amount * 10) / 10;
  return `${rounded.toLocaleString('en')} ${measure === 'seconds' ? 's' : measure}`;
}
