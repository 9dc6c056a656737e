/** Why a request was not done, as a value. */

/** A problem of RFC 9457 as the API sends it; `code` is stable. `Offline` is ours: nobody answered. */
export interface Problem {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  readonly request_id?: string;
  readonly errors?: readonly { readonly pointer?: string; readonly message?: string }[];
  /** Seconds after which the request may succeed. */
  readonly retryAfter?: number;
}

export type Result<Answer> =
  | { readonly ok: true; readonly data: Answer }
  | { readonly ok: false; readonly problem: Problem };

export const OFFLINE: Problem = {
  code: 'Offline',
  status: 0,
  title: 'TempoClaw does not answer',
  detail: 'TempoClaw does not answer. It may be starting again, or the network is down.',
};

export async function readProblem(response: Response): Promise<Problem> {
  const fallback = { code: `Http${response.status}`, title: response.statusText || 'The request failed' };
  const sent: unknown = await response.json().catch(() => undefined);
  const seconds = Number(response.headers.get('retry-after'));
  return {
    ...fallback,
    ...(typeof sent === 'object' ? sent : {}),
    status: response.status,
    ...(seconds > 0 && { retryAfter: seconds }),
  };
}

/** One sentence for people. */
export function problemText({ title, detail, errors = [] }: Problem): string {
  const fields = errors.map(({ pointer, message }) => [pointer, message].filter(Boolean).join(' '));
  return [detail ?? title, ...fields].join(' · ');
}
