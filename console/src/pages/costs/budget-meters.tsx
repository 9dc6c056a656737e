/** How much of each limit is used, live. */
import type { Operations } from '../../api/operations.ts';
import { useRequest } from '../../api/use-request.ts';
import { amountText } from '../../components/amounts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';

export function BudgetMeters() {
  const { data, problem, reload } = useRequest('GET /v1/budgets/use', {}, { everyMs: 2_000 });
  const uses = data.value?.data;
  return (
    <section class="panel" aria-labelledby="budgets-title">
      <h2 id="budgets-title">
        Budgets <CopyAs name="GET /v1/budgets/use" parts={{}} command={['budgets', 'use']} />
      </h2>
      {problem.value && <ProblemNotice problem={problem.value} retry={reload} />}
      {uses?.length === 0 && (
        <p>
          Nothing is limited. <code>npx tempoclaw budgets add tenant --usd 20 --period day</code> limits a
          day.
        </p>
      )}
      <ul class="meters">
        {uses?.map((use) => (
          <Meter key={`${use.budget} ${use.subject} ${use.measure}`} {...use} />
        ))}
      </ul>
    </section>
  );
}

function Meter(use: Operations['GET /v1/budgets/use']['answer']['data'][number]) {
  const {
    budget,
    scope,
    subject,
    measure,
    spent,
    reserved,
    limit,
    extra,
    on_limit: then,
    renews_at: renews,
  } = use;
  const who = scope === 'tenant' ? 'All work' : subject ? `${scope} ${subject}` : `Each ${scope}`;
  const full = limit + extra;
  const words = [
    `${amountText(measure, spent)} of ${amountText(measure, full)}`,
    reserved > 0 && `${amountText(measure, reserved)} reserved`,
    extra > 0 && `${amountText(measure, extra)} allowed in addition`,
    renews && `renews ${new Date(renews).toLocaleString()}`,
    then === 'ask' ? 'then asks for more' : 'then stops',
  ];
  return (
    <li title={budget}>
      <ExactText text={who} />
      <meter
        max={full}
        high={0.8 * full}
        optimum={0}
        value={spent + reserved}
        aria-label={`${who}: ${words[0]}`}
      />
      <span class="row-more">{words.filter(Boolean).join(' · ')}</span>
    </li>
  );
}
