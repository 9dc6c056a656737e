/** What is used of each budget now, and what models have cost. */
import { AFTER_SESSIONS, useRequest } from '../../api/use-request.ts';
import { currentSearch, setSearch } from '../../app/router.ts';
import { moneyText } from '../../components/amounts.ts';
import { TextInput } from '../../components/bound.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Trouble } from '../../components/notices.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { BudgetMeters } from './budget-meters.tsx';
import { GROUPS, MEASURES, UsageChart } from './usage-chart.tsx';

const FILTERS = ['from', 'to', 'agent', 'user', 'model'] as const;

export default function Costs() {
  const search = currentSearch.value;
  const by = GROUPS.find((one) => one === search.get('by')) ?? 'day';
  const of = MEASURES.find((one) => one === search.get('of')) ?? 'cost_usd';
  const filters = FILTERS.flatMap((name) => (search.has(name) ? [[name, search.get(name) ?? '']] : []));
  const query: Readonly<Record<string, string>> = { by, ...Object.fromEntries(filters) };
  const daily = { ...query, by: by === 'day' ? by : `day,${by}` };
  const usage = useRequest('GET /v1/usage', { query }, AFTER_SESSIONS);
  const days = useRequest('GET /v1/usage', { query: daily }, AFTER_SESSIONS);
  const shown = usage.data.value;
  const flags = Object.entries(query).flatMap(([name, value]) => [`--${name}`, value]);
  const copy = <CopyAs name="GET /v1/usage" parts={{ query }} command={['usage', ...flags]} />;
  return (
    <PageFrame title="Costs" scrolls head={copy}>
      <BudgetMeters />
      <div class="panel buttons" role="group" aria-label="Use of models">
        <Choice name="by" value={by} options={GROUPS} />
        <Choice name="of" value={of} options={MEASURES} />
        {FILTERS.map((name) => (
          <label key={name} class="check">
            {name}
            <TextInput
              isShort
              hint={name === 'from' || name === 'to' ? shown?.[name] : 'any'}
              value={query[name] ?? ''}
              onChange={(text) => setSearch({ [name]: text })}
            />
          </label>
        ))}
      </div>
      <Trouble reading={usage} />
      {shown?.data.length === 0 && (
        <p class="notice">
          No model was used in these days. <code>npx tempoclaw run "Hello."</code> uses one.
        </p>
      )}
      {shown && shown.data.length > 0 && (
        <>
          {days.data.value && <UsageChart answer={days.data.value} by={by} of={of} />}
          <DataTable
            title="Figures"
            head={[by, 'calls', 'tokens in', 'cached', 'tokens out', 'cost', 'without a price']}
            rows={shown.data.map((row) => [
              row[by] || '–',
              row.calls,
              row.input_tokens,
              row.cached_tokens,
              row.output_tokens,
              moneyText(row.cost_usd),
              row.unpriced_calls,
            ])}
          />
        </>
      )}
      {shown?.truncated && <p class="panel asks">Only the first 1,000 rows: choose fewer days.</p>}
    </PageFrame>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly string[];
}

function Choice({ name, value, options }: ChoiceProps) {
  return (
    <label class="check">
      {name}
      <select value={value} onChange={({ currentTarget }) => setSearch({ [name]: currentTarget.value })}>
        {options.map((one) => (
          <option key={one} value={one}>
            {one.replace('_', ' ')}
          </option>
        ))}
      </select>
    </label>
  );
}
