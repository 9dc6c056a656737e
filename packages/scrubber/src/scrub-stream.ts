/**
 * Scrubs a text that arrives in pieces: a secret that a piece's edge cuts is still recognized. Words are returned when
 * they have ended, and the text before them is kept as context. An open construct that may still become a secret (a
 * quoted value, a key block) holds back everything after its start.
 */
import { findSecrets } from './find-secrets.ts';
import { mergeRedactions, REDACTED, type Redaction } from './redaction.ts';
import { NO_VALUES, type RegisteredValues } from './registered-values.ts';

export interface ScrubStream {
  /** The scrubbed text that can be shown now; '' while a word or a secret continues. */
  push(piece: string): string;
  /** Returns the rest. The stream is empty afterwards and can be used again. */
  end(): string;
}

/** Characters that detectors read backwards. */
const CONTEXT = 1_024;
/** A word without an end (a minified file, base64) is returned in parts beyond this many characters. */
const MAX_HELD = 16_384;
/** A random value: tests whether the text would contain a secret if it continued with one. */
const PROBE = 'Zq9Xw7Er5Ty3Ui1OpA2s';

export function createScrubStream(registered: RegisteredValues = NO_VALUES): ScrubStream {
  const max = Math.max(MAX_HELD, registered.longest * 2);
  let context = '';
  let held = '';

  /** Returns `held` up to `cut`, a position in `text` = context + held. */
  function release(text: string, spans: readonly Redaction[], cut: number): string {
    const out: string[] = [];
    let at = context.length;
    for (const span of spans) {
      if (span.end <= at) continue;
      if (span.start >= cut) break;
      out.push(text.slice(at, Math.max(at, span.start)), span.placeholder ?? REDACTED);
      at = Math.min(span.end, cut);
    }
    out.push(text.slice(at, Math.max(at, cut)));
    held = text.slice(cut);
    context = text.slice(Math.max(0, cut - CONTEXT), cut);
    return out.join('');
  }

  return {
    push(piece) {
      held += piece;
      const text = context + held;
      const isFull = held.length > max;
      let cut = isFull ? text.length - Math.floor(max / 2) : Math.min(lastWordEnd(text), keyHeader(text));
      // A registered value with blanks, or broken over lines, may have started before the last word.
      if (!isFull && registered.size > 0)
        cut = Math.min(cut, registered.forms.beginsAt(text, context.length));
      if (cut <= context.length && !isFull) return '';
      const spans = mergeRedactions(findSecrets(text, registered));
      cut = Math.min(cut, beginningOf(spans, cut));
      const tried = mergeRedactions(findSecrets(text.slice(0, cut) + PROBE, registered));
      cut = Math.min(cut, beginningOf(tried, cut));
      if (cut > context.length) return release(text, spans, cut);
      if (isFull) held = withoutMiddle(held, max);
      return '';
    },
    end() {
      const text = context + held;
      const out = release(text, mergeRedactions(findSecrets(text, registered)), text.length);
      context = '';
      return out;
    },
  };
}

/** Start of the span that contains `at`. */
function beginningOf(spans: readonly Redaction[], at: number): number {
  return spans.find((span) => span.start < at && at < span.end)?.start ?? at;
}

/** Start of the header of an unfinished key block, which is several words. */
function keyHeader(text: string): number {
  const at = text.slice(-MAX_HEADER).search(/-----(?:BEGIN|END)[A-Z0-9 ]*-{0,5}$/);
  return at < 0 ? text.length : Math.max(0, text.length - MAX_HEADER) + at;
}

const MAX_HEADER = 80;

function lastWordEnd(text: string): number {
  for (let at = text.length; at > 0; at--) if (/\s/.test(text[at - 1] as string)) return at;
  return 0;
}

/** A secret without an end (a key block): its start and its newest part represent it. */
function withoutMiddle(held: string, max: number): string {
  return held.slice(0, Math.floor(max / 4)) + held.slice(-Math.floor(max / 4));
}
