/** Removes secrets from texts, streams and JSON: the public exports of the package. */
export { preview, type PreviewLimits } from './preview.ts';
export { REDACTED, type Redacted, type RedactionCount } from './redaction.ts';
export {
  NO_VALUES,
  registerValues,
  type RegisteredKind,
  type RegisteredValues,
  type ValueToRegister,
} from './registered-values.ts';
export { scrubJson } from './scrub-json.ts';
export { createScrubStream, type ScrubStream } from './scrub-stream.ts';
export { scrubText } from './scrub-text.ts';
