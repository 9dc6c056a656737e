/** A model reads `[REDACTED]` where a file has a secret; when it writes the file back, the secret must not be lost. */
import { FileProblem } from './file-problem.ts';

/** What scrubbing puts in place of values (packages/scrubber). */
const PLACEHOLDER = /\[(?:REDACTED|SERVER_IP)\]/g;

export function hasPlaceholder(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0;
}

/**
 * Refuses a change that adds placeholders to a file with secrets. `hasSecret` says whether readers of a text see
 * placeholders. @throws FileProblem
 */
export function keepSecrets(
  path: string,
  old: Buffer | null,
  next: string,
  hasSecret: (text: string) => boolean,
): void {
  if (old === null) return;
  const before = old.toString('utf8');
  if (count(next) <= count(before) || !hasSecret(before)) return;
  throw new FileProblem(
    'InvalidArgs',
    `the new text has [REDACTED] where ${path} has a secret that was hidden from you; writing it would destroy the secret, so nothing was changed. Edit only the lines without it`,
  );
}

function count(text: string): number {
  return text.match(PLACEHOLDER)?.length ?? 0;
}
