/** Removes secrets from a text before anybody else sees it. */
import { findSecrets } from './find-secrets.ts';
import { applyRedactions, type Redacted } from './redaction.ts';
import { NO_VALUES, type RegisteredValues } from './registered-values.ts';

/** A scrubbed text stays unchanged; text that two replacements join needs another pass. */
const MAX_PASSES = 4;

/**
 * Idempotent. Linear in the text: about 5 µs for 200 bytes and 50 ms for 1 MB; one more pass after a replacement, and
 * one for a text with escapes.
 */
export function scrubText(text: string, registered: RegisteredValues = NO_VALUES): Redacted {
  let result = applyRedactions(text, findSecrets(text, registered));
  const { found } = result;
  for (let pass = 1; pass < MAX_PASSES && result.found.length > 0; pass++)
    result = applyRedactions(result.text, findSecrets(result.text, registered));
  return { text: result.text, found };
}
