/** Tries rules on the calls of the last week: what would be decided otherwise. Nothing is run. */
import { useSignal } from '@preact/signals';
import type { Operations } from '@tempoclaw/client';
import type { Result } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { hrefOf } from '../../app/router.ts';
import { Button } from '../../components/button.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import type { Values } from '../../components/field-schema.ts';
import { ProblemNotice } from '../../components/notices.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

type Operation = Operations['POST /v1/policy/backtest'];
type Counts = Operation['answer']['before'];

export function Backtest({ rules }: { readonly rules: Values }) {
  const isBusy = useSignal(false);
  const result = useSignal<Result<Operation['answer']> | undefined>(undefined);
  const run = async (): Promise<void> => {
    isBusy.value = true;
    // The API judges whether these are rules.
    result.value = await request('POST /v1/policy/backtest', { body: rules as Operation['body'] });
    isBusy.value = false;
  };
  return (
    <section aria-label="Backtest">
      <h2>What would change</h2>
      <Button scope="admin" disabled={isBusy.value} onClick={() => void run()}>
        Try on the last week’s calls
      </Button>
      {result.value?.ok === false && <ProblemNotice problem={result.value.problem} />}
      {result.value?.ok && <Report report={result.value.data} />}
    </section>
  );
}

function Report({ report }: { readonly report: Operation['answer'] }) {
  const { calls, truncated, differ, before, after, unreadable, data } = report;
  return (
    <div role="status">
      <p>
        {differ} of {truncated && 'the newest '}
        {calls} calls would be decided otherwise. Before: {wordsOf(before)}; after: {wordsOf(after)}.
        {unreadable > 0 && ` ${unreadable} cannot be judged: their tools are gone or take other arguments.`}
      </p>
      <ul class="plain">
        {data.map((call) => (
          <li key={call.call_id}>
            <strong>
              {call.before} → {call.after}
            </strong>{' '}
            <ExactText text={call.summary} />
            <small>
              {' '}
              {[call.agent, call.step, call.rule, call.reason].filter(Boolean).join(' · ')} ·{' '}
              <a href={hrefOf('sessions', call.session_key)}>{call.session_key}</a> ·{' '}
              <TimeAgo at={call.created_at} />
            </small>
          </li>
        ))}
      </ul>
      {differ > data.length && <p>The newest {data.length} are shown.</p>}
    </div>
  );
}

function wordsOf({ allow, ask, deny }: Counts): string {
  return `${allow} allowed, ${ask} asked about, ${deny} denied`;
}
