/** What is used of each budget now, and what models have cost. */
import type { Operations } from '../../api/operations.ts';
import { useRequest } from '../../api/use-request.ts';
import { currentSearch, setSearch } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { amountText } from '../../components/amounts.ts';
import { BudgetMeters } from './budget-meters.tsx';
import { UsageChart, type UsageMeasure } from './usage-chart.tsx';

type UsageRow = Operations['GET /v1/usage']['answer']['data'][number];

const GROUPS = ['day', 'agent', 'user', 'model'] as const;
const MEASURES: Readonly<Record<UsageMeasure, string>> = {
  cost_usd: 'Cost',
  calls: 'Calls',
  input_tokens: 'Tokens in',
  output_tokens: 'Tokens out',
};
const FILTERS = ['agent', 'user', 'model'] as const;
const REFRESH_MS = 10_000;

export default function Costs() {
  const search = currentSearch.value;
  const by = GROUPS.find((group) => group === search.get('by')) ?? 'day';
  const measure =
    (Object.keys(MEASURES) as UsageMeasure[]).find((one) => one === search.get('of')) ?? 'cost_usd';
  const filters = ['from', 'to', ...FILTERS].flatMap((name) => {
    const value = search.get(name);
    return value ? [[name, value]] : [];
  });
  const query = { by, ...(Object.fromEntries(filters) as Record<string, string>) };
  const usage = useRequest('GET /v1/usage', { query }, { everyMs: REFRESH_MS });
  const byDay = useRequest(
    'GET /v1/usage',
    { query: { ...query, by: by === 'day' ? 'day' : `day,${by}` } },
    { everyMs: REFRESH_MS },
  );
  const shown = usage.data.value;
  const days = byDay.data.value;
  return (
    <section class="page scrolls">
      <div class="page-head">
        <h1>Costs</h1>
        <CopyAs name="GET /v1/usage" parts={{ query }} command={['usage', ...flagsOf(query)]} />
      </div>
      <BudgetMeters />
      <section class="panel" aria-labelledby="usage-title">
        <h2 id="usage-title">Use of models</h2>
        <div class="buttons">
          <Choice label="By" name="by" value={by} options={GROUPS.map((one) => [one, one])} />
          <Choice label="Of" name="of" value={measure} options={Object.entries(MEASURES)} />
          {(['from', 'to'] as const).map((name) => (
            <label key={name} class="check">
              {name}
              <input
                type="date"
                value={search.get(name) ?? shown?.[name] ?? ''}
                onChange={({ currentTarget }) => setSearch({ [name]: currentTarget.value })}
              />
            </label>
          ))}
          {FILTERS.map((name) => (
            <input
              key={name}
              type="search"
              size={12}
              aria-label={`Only of this ${name}`}
              placeholder={name}
              value={search.get(name) ?? ''}
              onChange={({ currentTarget }) => setSearch({ [name]: currentTarget.value.trim() })}
            />
          ))}
        </div>
        {usage.problem.value && <ProblemNotice problem={usage.problem.value} retry={usage.reload} />}
        {shown?.data.length === 0 && (
          <p class="notice">
            No model was used in these days. <code>npx tempoclaw run "Hello."</code> uses one.
          </p>
        )}
        {shown && shown.data.length > 0 && (
          <>
            {days && (
              <UsageChart answer={days} by={by} measure={measure} label={`${MEASURES[measure]} by day`} />
            )}
            <UsageTable rows={shown.data} by={by} />
            {shown.truncated && <p class="asks">Only the first 1,000 rows: choose fewer days.</p>}
          </>
        )}
      </section>
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
}

function Choice({ label, name, value, options }: ChoiceProps) {
  return (
    <label class="check">
      {label}
      <select value={value} onChange={({ currentTarget }) => setSearch({ [name]: currentTarget.value })}>
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function UsageTable({
  rows,
  by,
}: {
  readonly rows: readonly UsageRow[];
  readonly by: (typeof GROUPS)[number];
}) {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Figures">
      <table>
        <caption>By {by}</caption>
        <thead>
          <tr>
            {[by, 'calls', 'tokens in', 'cached', 'tokens out', 'cost', 'without a price'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row[by]}>
              <th scope="row">{row[by] || '–'}</th>
              <td>{row.calls}</td>
              <td>{row.input_tokens}</td>
              <td>{row.cached_tokens}</td>
              <td>{row.output_tokens}</td>
              <td>{row.cost_usd === null ? '–' : amountText('usd', row.cost_usd)}</td>
              <td>{row.unpriced_calls}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function flagsOf(query: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(query).flatMap(([name, value]) => [`--${name}`, value]);
}
