/** Records requests: each exchange once, whether it uses a client or a proxy. */
import { EgressError, egressErrorOf, type EgressProblem } from './egress-error.ts';

/** The record of an exchange. It contains neither paths nor headers nor bodies, because those may be secret. */
export interface ExchangeRecord<Labels> {
  /** Labels of the client or the proxy. */
  readonly labels: Labels;
  /** `CONNECT` for a tunnel or a plain connection. */
  readonly method: string;
  /** `host:port` of the last address; empty when the address cannot be read. */
  readonly host: string;
  /** Null when no answer arrived. */
  readonly status: number | null;
  /** Bytes from outside, decompressed. */
  readonly bytes: number;
  readonly milliseconds: number;
  /** Null when it succeeded. */
  readonly problem: EgressProblem | null;
}

/** Records an exchange. Never rejects, because the request already has its answer. */
export type RecordExchange<Labels> = (exchange: ExchangeRecord<Labels>) => Promise<void>;

/** Limits of one exchange. The answers of redirects count together with the last. */
export interface EgressLimits {
  /** How many redirects are followed; with 0 the caller receives them. */
  readonly redirects: number;
  /** Bytes of the answer, decompressed. */
  readonly bytes: number;
  /** Milliseconds until the whole answer is read; undefined for streams, which may be silent for at most `idleMs`. */
  readonly totalMs: number | undefined;
  readonly idleMs: number;
}

export interface Exchange {
  /** A redirect changes it. */
  url: string;
  /** Status of the answer, after it has arrived. */
  status: number | null;
  /** Adds bytes from outside; returns an error when there were too many, which ends the exchange. */
  count(bytes: number): EgressError | undefined;
  /** Records it, the first time. Resolves when it is recorded. */
  end(problem: EgressProblem | null): Promise<void>;
  /** Records a failure; returns the reason in words for the caller. */
  fail(error: unknown): EgressError;
}

export interface ExchangeOptions {
  /** It is recorded only when it fails. */
  readonly isRoutine?: boolean;
  /** The caller's own signal. */
  readonly stopped?: AbortSignal;
  /** Called once, when it fails. */
  readonly onFailure?: (problem: EgressError) => void;
}

export interface EgressLog<Labels> {
  begin(labels: Labels, method: string, url: string, options?: ExchangeOptions): Exchange;
  /** Resolves when all ended exchanges are recorded. */
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
