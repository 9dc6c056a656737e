/** What `tempoclaw doctor` says about one thing. */

/** `missing` keeps TempoClaw from starting; `warn` may surprise; `info` needs no action. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'info' | 'warn' | 'missing';
  readonly detail: string;
  readonly remedy?: string | undefined;
}

export function finding(check: string, status: Finding['status'], detail: string, remedy?: string): Finding {
  return { check, status, detail, remedy };
}
