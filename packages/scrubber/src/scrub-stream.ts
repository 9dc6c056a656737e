/**
 * Scrubs a text that arrives in pieces: a secret that is cut by a piece's edge is seen whole.
 * Words go out when they have ended, with what stood before them kept as context; a place where something that may
 * still become a secret has begun (a quoted value, a key block) holds everything after it back.
 */
import { findSecrets } from './find-secrets.ts';
import { mergeRedactions, REDACTED, type Redaction } from './redaction.ts';
import { NO_VALUES, type RegisteredValues } from './registered-values.ts';

export interface ScrubStream {
  /** The scrubbed text that is safe to show by now; '' while a word or a secret goes on. */
  push(piece: string): string;
  /** The rest. The stream is empty afterwards and can be used anew. */
  end(): string;
}

/** What detectors look back over. */
const CONTEXT = 1_024;
/** A word without an end (a minified file, base64) goes out in parts beyond this many characters. */
const MAX_HELD = 16_384;
/** A random value: what it would be if the text went on with a secret. */
const PROBE = 'Zq9Xw7Er5Ty3Ui1OpA2s';

export function createScrubStream(registered: RegisteredValues = NO_VALUES): ScrubStream {
  const max = Math.max(MAX_HELD, registered.longest * 2);
  let context = '';
  let held = '';

  /** Shows `held` up to `cut`, a place in `text` = context + held. */
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
      // A registered value with blanks, or broken over lines, may have begun before the last word.
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

/** Where the span begins that `at` is inside of. */
function beginningOf(spans: readonly Redaction[], at: number): number {
  return spans.find((span) => span.start < at && at < span.end)?.start ?? at;
}

/** Where the header of a key block begins that has not ended: it is several words. */
function keyHeader(text: string): number {
  const at = text.slice(-MAX_HEADER).search(/-----(?:BEGIN|END)[A-Z0-9 ]*-{0,5}$/);
  return at < 0 ? text.length : Math.max(0, text.length - MAX_HEADER) + at;
}

const MAX_HEADER = 80;

function lastWordEnd(text: string): number {
  for (let at = text.length; at > 0; at--) if (/\s/.test(text[at - 1] as string)) return at;
  return 0;
}

/** A secret that goes on and on (a key block without an end): its beginning and its newest part stand for it. */
function withoutMiddle(held: string, max: number): string {
  return held.slice(0, Math.floor(max / 4)) + held.slice(-Math.floor(max / 4));
}
