/** Says why something cannot be shown, and offers to try again. */
import { type Problem, problemText } from '../api/problem.ts';

export function ProblemNotice({
  problem,
  retry,
}: {
  readonly problem: Problem;
  readonly retry?: () => void;
}) {
  return (
    <div class="notice bad" role="alert">
      <p>
        {problemText(problem)}
        {problem.request_id && <small> Request {problem.request_id}</small>}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
