/** Every position of a secret in a text. Each detector is linear, so hostile text costs no more. */
import { findAssignments } from './find-assignments.ts';
import { findLongHex } from './find-long-hex.ts';
import { findNamedValues } from './find-named-values.ts';
import { findPrivateKeys } from './find-private-keys.ts';
import { hasAny, readText } from './needed-text.ts';
import { plainViews } from './plain-views.ts';
import type { Redaction } from './redaction.ts';
import { findCredentials, findRegistered, type RegisteredValues } from './registered-values.ts';
import { isMasked, SECRET_PATTERNS } from './secret-patterns.ts';

/** Unordered, and possibly overlapping. */
export function findSecrets(text: string, registered: RegisteredValues): Redaction[] {
  const spans: Redaction[] = [];
  if (text === '') return spans;
  findShapes(text, spans);
  findRegistered(text, registered, spans);
  for (const view of plainViews(text)) {
    const found: Redaction[] = [];
    findShapes(view.text, found);
    findCredentials(view.text, registered, found);
    for (const each of found) spans.push({ ...each, ...view.original(each.start, each.end) });
  }
  return spans;
}

function findShapes(text: string, spans: Redaction[]): void {
  readText(text);
  findPrivateKeys(text, spans);
  for (const shape of SECRET_PATTERNS) {
    const { kind, pattern } = shape;
    if (!hasAny(shape.needs)) continue;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text))
      if (!isMasked(shape, match[0]))
        spans.push({ start: match.index, end: match.index + match[0].length, kind });
  }
  findLongHex(text, spans);
  findAssignments(text, spans);
  findNamedValues(text, spans);
}
