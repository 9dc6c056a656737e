/**
 * Transcribes a recording by OpenAI's `/audio/transcriptions` and the many compatible servers. One request; the caller
 * retries. It does not use `ai`, which refuses segments with fewer fields than OpenAI's.
 */
import { APICallError } from 'ai';
import { z } from 'zod';
import type { TranscribeRequest, Transcription } from '#domain/model/model.ts';
import { createPatience, guardedFetch } from '#activities/model/guarded-fetch.ts';
import { toModelError } from '#activities/model/model-error.ts';
import type { ProviderSettings } from '#activities/model/provider-settings.ts';

export interface TranscriptionAccess {
  readonly settings: ProviderSettings;
  readonly apiKey: string;
  readonly baseURL: string;
}

/** OpenAI's newer models refuse the format with times; all others are requested with it. */
const WITHOUT_TIMES = /^gpt-/;
/** Greater than the number in hours of speech. */
const MAX_SEGMENTS = 100_000;

const answerSchema = z.object({
  text: z.string(),
  duration: z.coerce.number().nonnegative().optional().catch(undefined),
  segments: z
    .array(z.object({ start: z.number(), end: z.number(), text: z.string() }))
    .max(MAX_SEGMENTS)
    .nullish(),
});

/** Servers recognize a recording's format by its file extension. */
const ENDS: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  'x-m4a': 'm4a',
  'x-wav': 'wav',
  quicktime: 'mov',
};

/** @throws ModelError for every failure; the signal's own reason when `request.signal` aborted the call. */
export async function transcribe(
  { settings, apiKey, baseURL }: TranscriptionAccess,
  { model, bytes, type, signal }: TranscribeRequest,
): Promise<Transcription> {
  signal.throwIfAborted();
  const patience = createPatience(settings);
  const form = new FormData();
  const kind = type.replace(/^.*\//, '');
  form.set('file', new Blob([new Uint8Array(bytes)], { type }), `audio.${ENDS[kind] ?? kind}`);
  form.set('model', model);
  form.set('response_format', WITHOUT_TIMES.test(model) ? 'json' : 'verbose_json');
  const url = `${baseURL}/audio/transcriptions`;
  try {
    const response = await guardedFetch(settings.name)(url, {
      method: 'POST',
      headers: apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` },
      body: form,
      signal: AbortSignal.any([signal, patience.signal]),
    });
    const text = await response.text();
    if (!response.ok)
      throw new APICallError({
        message: text.slice(0, 1_000) || response.statusText,
        url,
        requestBodyValues: {},
        statusCode: response.status,
        responseHeaders: Object.fromEntries(response.headers),
        responseBody: text,
      });
    const { segments, duration, ...answer } = answerSchema.parse(JSON.parse(text));
    return { text: answer.text, segments: segments ?? [], seconds: duration ?? segments?.at(-1)?.end };
  } catch (error) {
    signal.throwIfAborted();
    const context = { provider: settings.name, model, apiKey };
    throw toModelError(patience.signal.aborted ? patience.signal.reason : error, context);
  } finally {
    patience.end();
  }
}
