/** How much of each limit is used, live. */
import type { Operations } from '@tempoclaw/client';
import { AFTER_SESSIONS, useRequest } from '../../api/use-request.ts';
import { amountText } from '../../components/amounts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Trouble } from '../../components/notices.tsx';

export function BudgetMeters() {
  const reading = useRequest('GET /v1/budgets/use', {}, AFTER_SESSIONS);
  const uses = reading.data.value?.data;
  return (
    <section class="panel" aria-labelledby="budgets-title">
      <h2 id="budgets-title">
        Budgets <CopyAs name="GET /v1/budgets/use" parts={{}} command={['budgets', 'use']} />
      </h2>
      <Trouble reading={reading} />
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
  const { budget, scope, subject, measure, spent, reserved, limit, extra } = use;
  const who = scope === 'tenant' ? 'All work' : subject ? `${scope} ${subject}` : `Each ${scope}`;
  const full = limit + extra;
  const part = `${amountText(measure, spent)} of ${amountText(measure, full)}`;
  const words = [
    part,
    reserved > 0 && `${amountText(measure, reserved)} reserved`,
    extra > 0 && `${amountText(measure, extra)} allowed in addition`,
    use.renews_at && `renews ${new Date(use.renews_at).toLocaleString()}`,
    use.on_limit === 'ask' ? 'then asks for more' : 'then stops',
  ];
  const scale = { max: full, high: 0.8 * full, optimum: 0, value: spent + reserved };
  return (
    <li title={budget}>
      <ExactText text={who} />
      <meter {...scale} aria-label={`${who}: ${part}`} />
      <span class="row-more">{words.filter(Boolean).join(' · ')}</span>
    </li>
  );
}
