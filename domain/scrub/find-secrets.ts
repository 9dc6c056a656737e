/** SC-1, SC-2: every place of a text that holds a secret. Each detector is linear, so hostile text costs no more. */
import { findAssignments } from './find-assignments.ts';
import { findLongHex } from './find-long-hex.ts';
import { findNamedValues } from './find-named-values.ts';
import { findPrivateKeys } from './find-private-keys.ts';
import { hasAny, readText } from './needed-text.ts';
import type { Redaction } from './redaction.ts';
import { findRegistered, type RegisteredValues } from './registered-values.ts';
import { SECRET_PATTERNS } from './secret-patterns.ts';

/** In no order, and they may overlap. */
export function findSecrets(text: string, registered: RegisteredValues): Redaction[] {
  const spans: Redaction[] = [];
  if (text === '') return spans;
  readText(text);
  findPrivateKeys(text, spans);
  for (const { kind, pattern, needs } of SECRET_PATTERNS) {
    if (!hasAny(text, needs)) continue;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text))
      spans.push({ start: match.index, end: match.index + match[0].length, kind });
  }
  findLongHex(text, spans);
  findAssignments(text, spans);
  findNamedValues(text, spans);
  findRegistered(text, registered, spans);
  return spans;
}
