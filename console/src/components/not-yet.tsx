/** In place of what has not been read yet, or cannot be read. */
import type { Reading } from '../api/use-request.ts';
import { ProblemNotice } from './problem-notice.tsx';

export function NotYet({ reading }: { readonly reading: Reading<unknown> }) {
  const problem = reading.problem.value;
  if (problem) return <ProblemNotice problem={problem} retry={reading.reload} />;
  return <p class="notice" aria-busy="true" />;
}
