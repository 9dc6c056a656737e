/** A signal cannot be answered, so refused ones appear in the run's `state`. */
import { log } from '@temporalio/workflow';
import { isRecord, isText } from '#domain/outside-value.ts';
import type { RefusedSignals } from '#domain/approval/refused-signals.ts';

/** Greatest number of characters that are read. */
const MAX_READ = 16_384;
const MAX_SHOWN = 500;

export interface SignalRefusals {
  note(what: string, payload: unknown, problem: string): void;
  /** Empty while none was refused. */
  shown(): Partial<RefusedSignals>;
}

export function createSignalRefusals(): SignalRefusals {
  let refusals: RefusedSignals | undefined;
  return {
    note(what, payload, problem) {
      log.warn('signal refused', { what, problem });
      const by = shownText(isRecord(payload) ? payload['by'] : undefined);
      const last_refused = { what, by, problem: shownText(problem), at: new Date().toISOString() };
      refusals = { refused: (refusals?.refused ?? 0) + 1, last_refused };
    },
    shown: () => refusals ?? {},
  };
}

/** Texts of unknown senders. */
export function shownText(text: unknown): string {
  return isText(text, MAX_READ) ? text.slice(0, MAX_SHOWN) : 'unnamed';
}
