/** Two runs side by side, and the first step in which they differ. */
import type { Operations } from '@tempoclaw/client';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf, type PageProps } from '../../app/router.ts';
import { durationText, moneyText } from '../../components/amounts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { NotYet } from '../../components/notices.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { LineDiff } from './line-diff.tsx';
import type { Turn } from './timeline.ts';

type Comparison = Operations['GET /v1/turns/{id}/compare/{other}']['answer'];
type Detail = Operations['GET /v1/turns/{id}/steps/{step}']['answer'];

export default function RunCompare({ params: { id = '', other = '' } }: PageProps) {
  const parts = { params: { id, other } };
  const comparison = useRequest('GET /v1/turns/{id}/compare/{other}', parts);
  const found = comparison.data.value;
  if (!found) return <NotYet reading={comparison} />;
  const turns = [found.turn, found.other];
  const command = ['turns', 'compare', id, other];
  const copy = <CopyAs name="GET /v1/turns/{id}/compare/{other}" parts={parts} command={command} />;
  return (
    <PageFrame title="Two runs" trail={[['Run', 'runs', id]]} head={copy}>
      <div class="scrolls panel">
        <DataTable
          title="Sums of both runs"
          head={['Run', ...turns.map((turn) => <a href={hrefOf('runs', turn.id)}>{turn.id}</a>)]}
          rows={Object.entries(ROWS).map(([name, show]) => [name, ...turns.map(show)])}
        />
        <FirstDifference comparison={found} />
      </div>
    </PageFrame>
  );
}

const ROWS: Readonly<Record<string, (turn: Turn) => string>> = {
  Session: ({ session_key: key }) => key,
  Agent: ({ agent, agent_revision: revision }) =>
    `${agent}${revision === null ? '' : `, revision ${revision}`}`,
  Status: ({ status }) => status.replace('_', ' '),
  Steps: ({ steps }) => String(steps),
  Tokens: ({ usage }) => (usage.input_tokens + usage.output_tokens).toLocaleString('en'),
  Cost: ({ usage }) => moneyText(usage.cost_usd),
  Time: ({ started_at: from, ended_at: to }) =>
    from && to ? durationText(Date.parse(to) - Date.parse(from)) : '–',
};

function FirstDifference({ comparison: { turn, other, first } }: { readonly comparison: Comparison }) {
  if (!first) return <p class="good">No step differs.</p>;
  const { step, differs } = first;
  const ends = differs.includes('end');
  return (
    <>
      <h2>Step {step} is the first that differs</h2>
      <p>
        {ends ? 'Only one run has this step.' : `In it differ: ${differs.join(', ')}.`}{' '}
        <a href={`${hrefOf('runs', turn.id)}?step=${step}`}>In the first run</a>,{' '}
        <a href={`${hrefOf('runs', other.id)}?step=${step}`}>in the other</a>
      </p>
      {!ends && <StepDiff turn={turn.id} other={other.id} step={step} differs={differs} />}
    </>
  );
}

const PARTS: Readonly<Record<string, (step: Detail) => string>> = {
  model: ({ model }) => model ?? '',
  text: ({ text }) => text,
  tools: ({ tool_calls: calls }) => calls.map(({ tool }) => tool).join('\n'),
  arguments: ({ tool_calls: calls }) => calls.map(({ args }) => argumentLines(args)).join('\n\n'),
  results: ({ tool_calls: calls }) =>
    calls.map(({ text, code }) => [code, text].filter(Boolean).join('\n')).join('\n'),
};

/** Texts keep their lines, so that these can be compared. */
function argumentLines(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}`)
    .join('\n');
}

interface StepDiffProps {
  readonly turn: string;
  readonly other: string;
  readonly step: number;
  readonly differs: readonly string[];
}

function StepDiff({ turn, other, step, differs }: StepDiffProps) {
  const left = useRequest('GET /v1/turns/{id}/steps/{step}', { params: { id: turn, step } });
  const right = useRequest('GET /v1/turns/{id}/steps/{step}', { params: { id: other, step } });
  const [from, to] = [left.data.value, right.data.value];
  if (!from || !to) return <NotYet reading={from ? right : left} />;
  return (
    <>
      {Object.entries(PARTS)
        .filter(([name]) => differs.includes(name))
        .map(([name, show]) => (
          <section key={name}>
            <h3>{name}</h3>
            <LineDiff label={`Difference of ${name}`} from={show(from)} to={show(to)} />
          </section>
        ))}
    </>
  );
}
