/** A tool's result as others may see it. */
import type { ToolErrorCode } from '#domain/errors.ts';
import type { NewEvent } from '#domain/event.ts';
import { cutText } from '#domain/text/cut-text.ts';
import { cleanOutsideText } from '#domain/text/hidden-text.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import { storableText } from '#domain/text/storable-text.ts';
import { MODEL_RESULT_BYTES, type ToolResult } from '#domain/tool.ts';
import type { ChildStart, RunToolResult } from '#domain/turn/turn-activities.ts';
import type { NewImage } from '#store/turns/turn-ledger.ts';
import type { RunnableCall } from './claimed-call.ts';
import type { CallDeps } from './call-deps.ts';
import { shownImages } from './result-images.ts';

/** A result without invisible characters, scrubbed and cut: for the model, the ledger, the feed and history. */
export interface ShownResult {
  readonly outcome: RunToolResult;
  readonly code: ToolErrorCode | null;
  readonly text: string;
  /** More than the model reads (EX-5). */
  readonly whole?: string;
  readonly images?: readonly NewImage[];
  readonly read?: UsedTools | undefined;
  readonly changedFiles?: readonly string[] | undefined;
  readonly child?: ChildStart;
  readonly events: readonly NewEvent[];
}

export function shownResult(
  { scrubber }: Pick<CallDeps, 'scrubber'>,
  id: string,
  claim: RunnableCall,
  result: ToolResult,
  milliseconds: number,
): ShownResult {
  const child = result.ok ? result.child : undefined;
  const code = result.ok ? null : result.code;
  // It is cleaned before it is scrubbed, because invisible characters may be inside a secret.
  const hide = (text: string): string => storableText(scrubber.text(cleanOutsideText(text)));
  const keptAt = `/v1/tool-calls/${id}/result`;
  const resultText = hide(result.ok ? result.text : `${result.code}: ${result.message}`);
  // The tool says what it has left out, and only here it is known where that is kept.
  const scrubbed =
    result.whole === undefined ? resultText : `${resultText}\n[the whole is kept at ${keptAt}]`;
  const { text: words, whole } = cutText(scrubbed, MODEL_RESULT_BYTES, keptAt);
  const values = result.ok ? (result.images ?? []) : [];
  const { images, lines } = shownImages(scrubber, id, values);
  const text = [words, ...lines].join('\n');
  const kept = result.whole === undefined ? whole : hide(result.whole);
  const preview = scrubber.preview(text, PREVIEW);
  const call = { call_id: id, tool: claim.tool, summary: claim.summary, step: claim.step };
  const completed = {
    ...call,
    ok: result.ok,
    code: code || undefined,
    preview,
    duration_ms: Math.round(milliseconds),
  };
  return {
    outcome: { ok: result.ok, ...(code ? { code } : { preview }), child },
    code,
    text,
    whole: kept,
    read: result.read,
    changedFiles: result.changedFiles,
    ...(images ? { images } : {}),
    child,
    events: [
      ...(claim.claimed ? [] : [{ type: 'tool.started', data: call } as const]),
      { type: 'tool.completed', data: completed },
    ],
  };
}

/** Characters of a result in history and feed. */
const PREVIEW = 200;
