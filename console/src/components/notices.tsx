/** What is said in place of something: it is not read yet, cannot be shown, or is not live just now. */
import type { EventStream } from '../api/event-stream.ts';
import { type Problem, problemText } from '../api/problem.ts';
import type { Reading } from '../api/use-request.ts';
import { Button } from './button.tsx';

interface ProblemNoticeProps {
  readonly problem: Problem;
  readonly retry?: () => void;
}

/** Says why something cannot be shown, and offers to try again. */
export function ProblemNotice({ problem, retry }: ProblemNoticeProps) {
  return (
    <div class="notice bad" role="alert">
      <p>
        {problemText(problem)}
        {problem.request_id && <small> Request {problem.request_id}</small>}
      </p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** Says what the last reading could not; what was read before may stand below it. */
export function Trouble({ reading: { problem, reload } }: { readonly reading: Reading<unknown> }) {
  return problem.value ? <ProblemNotice problem={problem.value} retry={reload} /> : null;
}

export function Busy() {
  return <p class="notice" aria-busy="true" />;
}

/** In place of what has not been read yet, or cannot be read. */
export function NotYet({ reading }: { readonly reading: Reading<unknown> }) {
  return reading.problem.value ? <Trouble reading={reading} /> : <Busy />;
}

/** Says that a page is not live just now, or no longer. */
export function StreamNotice({ stream }: { readonly stream: EventStream | undefined }) {
  if (stream?.problem.value) return <ProblemNotice problem={stream.problem.value} />;
  return (
    <p class="stream-state" role="status">
      {stream?.state.value === 'reconnecting' && 'The connection was cut; reconnecting…'}
    </p>
  );
}
