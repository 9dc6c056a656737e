/** Says that a page is not live just now, or no longer. */
import type { EventStream } from '../api/event-stream.ts';
import { ProblemNotice } from './problem-notice.tsx';

export function StreamNotice({ stream }: { readonly stream: EventStream | undefined }) {
  const problem = stream?.problem.value;
  if (problem) return <ProblemNotice problem={problem} />;
  const isCut = stream?.state.value === 'reconnecting';
  return (
    <p class="stream-state" role="status">
      {isCut && 'The connection was cut; reconnecting…'}
    </p>
  );
}
