/** Writes what is said in a recording, line by line with its times. */
import type { Transcription } from '#domain/model/model.ts';

export function transcriptText({ text, segments }: Transcription): string {
  if (segments.length === 0) return text.trim() || '(nothing is said)';
  return segments
    .map(({ start, end, text }) => `[${clock(start)} - ${clock(end)}] ${text.trim()}`)
    .join('\n');
}

/** Hours, minutes and seconds. */
export function clock(time: number): string {
  const seconds = Math.round(time * 10) / 10;
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${hours > 0 ? `${two(hours)}:` : ''}${two(minutes)}:${(seconds % 60).toFixed(1).padStart(4, '0')}`;
}
