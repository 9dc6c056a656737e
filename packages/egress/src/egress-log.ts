/** Records what goes out: each exchange once, whether a client or a proxy carries it. */
import type { EgressLimits } from './client.ts';
import { EgressError, egressErrorOf, type EgressProblem } from './egress-error.ts';

/** What is recorded of an exchange with the outside. Neither paths nor headers nor bodies, since those may be secret. */
export interface ExchangeRecord<Labels> {
  /** Those of the client or the proxy. */
  readonly labels: Labels;
  /** `CONNECT` for a tunnel or a plain connection. */
  readonly method: string;
  /** `host:port` of the last address; empty when the address cannot be read. */
  readonly host: string;
  /** Null when no answer came. */
  readonly status: number | null;
  /** Those that came from outside, decompressed. */
  readonly bytes: number;
  readonly milliseconds: number;
  /** Null when it went well. */
  readonly problem: EgressProblem | null;
}

/** Records an exchange. Never rejects: the request has its answer already. */
export type RecordExchange<Labels> = (exchange: ExchangeRecord<Labels>) => Promise<void>;

export interface Exchange {
  /** A redirect changes it. */
  url: string;
  /** Of the answer, once it is there. */
  status: number | null;
  /** Bytes that came from outside; why there were too many, when there were, which ends it. */
  count(bytes: number): EgressError | undefined;
  /** Records it, the first time. Resolves when it is recorded. */
  end(problem: EgressProblem | null): Promise<void>;
  /** The same for one that failed; returns why, in words for the caller. */
  fail(error: unknown): EgressError;
}

export interface ExchangeOptions {
  /** Recorded only when it fails. */
  readonly isRoutine?: boolean;
  /** The caller's own. */
  readonly stopped?: AbortSignal;
  /** Called once, when it fails. */
  readonly onFailure?: (problem: EgressError) => void;
}

export interface EgressLog<Labels> {
  begin(labels: Labels, method: string, url: string, options?: ExchangeOptions): Exchange;
  /** Resolves when all that has ended is recorded. */
  settled(): Promise<void>;
}

export function createEgressLog<Labels>(
  record: RecordExchange<Labels>,
  limits: EgressLimits,
): EgressLog<Labels> {
  const pending = new Set<Promise<void>>();
  const keep = (exchange: ExchangeRecord<Labels>): Promise<void> => {
    const recorded = record(exchange).finally(() => pending.delete(recorded));
    pending.add(recorded);
    return recorded;
  };
  return {
    begin(labels, method, first, { isRoutine = false, stopped, onFailure } = {}) {
      const startedAt = performance.now();
      let bytes = 0;
      let kept: Promise<void> | undefined;
      const recordOf = (problem: EgressProblem | null): ExchangeRecord<Labels> => {
        const { url, status } = exchange;
        const host = URL.canParse(url) ? new URL(url).host : '';
        const milliseconds = Math.round(performance.now() - startedAt);
        return { labels, method, host, status, bytes, milliseconds, problem };
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
          kept ??= isRoutine && problem === null ? Promise.resolve() : keep(recordOf(problem));
          return kept;
        },
        fail(error) {
          const problem = egressErrorOf(error, exchange.url, stopped, limits);
          if (kept === undefined) onFailure?.(problem);
          void exchange.end(problem.rule);
          return problem;
        },
      };
      return exchange;
    },
    settled: async () => void (await Promise.all(pending)),
  };
}
