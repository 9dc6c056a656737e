/** How much of each limit is used, live. */
import type { Operations } from '../../api/operations.ts';
import { useRequest } from '../../api/use-request.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { amountText } from '../../components/amounts.ts';

type Use = Operations['GET /v1/budgets/use']['answer']['data'][number];

const REFRESH_MS = 2_000;

export function BudgetMeters() {
  const { data, problem, reload } = useRequest('GET /v1/budgets/use', {}, { everyMs: REFRESH_MS });
  const uses = data.value?.data;
  return (
    <section class="panel" aria-labelledby="budgets-title">
      <h2 id="budgets-title">
        Budgets <CopyAs name="GET /v1/budgets/use" parts={{}} command={['budgets', 'use']} />
      </h2>
      {problem.value && <ProblemNotice problem={problem.value} retry={reload} />}
      {uses?.length === 0 && (
        <p>
          Nothing is limited. <code>npx tempoclaw budgets add tenant --usd 20 --period day</code> limits what
          all may cost in a day.
        </p>
      )}
      <ul class="meters">
        {uses?.map((use) => (
          <Meter key={`${use.budget} ${use.subject} ${use.measure}`} use={use} />
        ))}
      </ul>
    </section>
  );
}

function Meter({ use }: { readonly use: Use }) {
  const { scope, subject, measure, spent, reserved, extra, renews_at: renews } = use;
  const limit = use.limit + extra;
  const who = scope === 'tenant' ? 'All work' : subject ? `${scope} ${subject}` : `Each ${scope}`;
  const share = Math.min(1, (spent + reserved) / limit);
  return (
    <li title={use.budget}>
      <span>
        <ExactText text={who} />
      </span>
      <meter
        min={0}
        max={limit}
        high={0.8 * limit}
        optimum={0}
        value={share * limit}
        aria-label={`${who}: ${amountText(measure, spent)} of ${amountText(measure, limit)}`}
      />
      <span class="row-more">
        {amountText(measure, spent)} of {amountText(measure, limit)}
        {reserved > 0 && `, ${amountText(measure, reserved)} reserved`}
        {extra > 0 && `, ${amountText(measure, extra)} of it allowed in addition`}
        {renews && ` · renews ${new Date(renews).toLocaleString()}`}
        {` · then ${use.on_limit === 'ask' ? 'asks for more' : 'stops'}`}
      </span>
    </li>
  );
}
