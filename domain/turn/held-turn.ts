/** What people are told about a call that is held back (DU-11). `data`: of the event `turn.held`. */
export function heldWords({ reason }: Readonly<Record<string, unknown>>): string {
  return `Held back until it is lifted: ${String(reason)}`;
}
