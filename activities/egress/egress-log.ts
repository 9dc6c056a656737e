/** The account of what goes out: of each exchange one row, whoever carries it (a door or a proxy). */
import type { NewEgressRow } from '#store/egress-store.ts';
import type { EgressLimits } from './egress.ts';
import { EgressError, egressErrorOf } from './egress-error.ts';

/** Who asks. */
export interface Requester {
  readonly tenant: string;
  /** The tool's name, or what else asks: `mcp`, `webhook`. */
  readonly purpose: string;
  readonly callId?: string | undefined;
}

export interface Exchange {
  /** The address that is asked; a redirect changes it. */
  url: string;
  /** Of the answer, once it is there. */
  status: number | null;
  /** Bytes that came from outside; why there were too many, when there were, which ends it. */
  count(bytes: number): EgressError | undefined;
  /** Keeps its row, the first time. Resolves when the row is written. */
  end(problem: EgressError['rule'] | null): Promise<void>;
  /** The same for one that failed, in words for who asked. */
  fail(error: unknown): EgressError;
}

export interface ExchangeHow {
  /** Without a row unless it fails. */
  readonly isRoutine?: boolean;
  /** The asker's own. */
  readonly stopped?: AbortSignal;
  /** Told once, when it fails. */
  readonly failed?: (problem: EgressError) => void;
}

export interface EgressLog {
  begin(asker: Requester, method: string, url: string, how?: ExchangeHow): Exchange;
  /** Resolves when all rows are written. */
  settled(): Promise<void>;
}

export function createEgressLog(
  record: (row: NewEgressRow) => Promise<void>,
  limits: EgressLimits,
): EgressLog {
  const rows = new Set<Promise<void>>();
  const keep = (row: NewEgressRow): Promise<void> => {
    const written = record(row).finally(() => rows.delete(written));
    rows.add(written);
    return written;
  };
  return {
    begin({ tenant, purpose, callId = null }, method, first, { isRoutine = false, stopped, failed } = {}) {
      const began = performance.now();
      let bytes = 0;
      let kept: Promise<void> | undefined;
      const rowOf = (problem: EgressError['rule'] | null): NewEgressRow => {
        const { url, status } = exchange;
        const host = URL.canParse(url) ? new URL(url).host : '';
        const milliseconds = Math.round(performance.now() - began);
        return { tenant, purpose, call_id: callId, method, host, status, bytes, milliseconds, problem };
      };
      const exchange: Exchange = {
        url: first,
        status: null,
        count(more) {
          bytes += more;
          if (bytes <= limits.bytes) return undefined;
          const words = `the answer is larger than ${limits.bytes} bytes`;
          return exchange.fail(new EgressError('too_large', words));
        },
        end(problem) {
          kept ??= isRoutine && problem === null ? Promise.resolve() : keep(rowOf(problem));
          return kept;
        },
        fail(error) {
          const problem = egressErrorOf(error, exchange.url, stopped, limits);
          if (kept === undefined) failed?.(problem);
          void exchange.end(problem.rule);
          return problem;
        },
      };
      return exchange;
    },
    settled: async () => void (await Promise.all(rows)),
  };
}
