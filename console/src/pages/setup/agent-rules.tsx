/** What the rules of an agent, as its form holds them, would decide about a call. */
import { useSignal } from '@preact/signals';
import type { Operations } from '@tempoclaw/client';
import type { Result } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { hrefOf } from '../../app/router.ts';
import { ExactText } from '../../components/exact-text.tsx';
import type { FieldSchema, Values } from '../../components/field-schema.ts';
import { ProblemNotice } from '../../components/notices.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';
import { Backtest } from './backtest.tsx';
import type { BesideProps, RowOf } from './kind.ts';

type Explanation = Operations['POST /v1/explain/{kind}']['answer'];

/** What an agent without a field has: the fields that are left out here would be those of `main`. */
const NOTHING = { tools: {}, exec: {}, egress: {}, sandbox: {}, hooks: [] };

const SCHEMA: FieldSchema = {
  properties: {
    tool: { type: 'string', description: 'Such as exec; empty: all that it has' },
    args: { description: 'Its arguments as JSON, such as {"command": "git push"}' },
  },
};

export function AgentRules({ row: { key }, values }: BesideProps<RowOf<'GET /v1/agents'>>) {
  const { tools = {}, exec = {} } = values;
  const rules = { agents: { [key]: { tools, exec } } };
  return (
    <>
      <Explain agent={{ ...NOTHING, ...values, key }} />
      <Backtest key={JSON.stringify(rules)} rules={rules} />
    </>
  );
}

function Explain({ agent }: { readonly agent: Values }) {
  const call = useSignal<Values>({ tool: 'exec' });
  const broken = useSignal<ReadonlySet<string>>(new Set());
  const result = useSignal<Result<Explanation> | undefined>(undefined);
  const explain = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const body = { ...call.value, agent };
    result.value = await request('POST /v1/explain/{kind}', { params: { kind: 'tool' }, body });
  };
  return (
    <section aria-label="Explain">
      <h2>What these rules decide</h2>
      <form class="fields" onSubmit={(event) => void explain(event)}>
        <SchemaForm schema={SCHEMA} values={call} broken={broken} />
        <div class="buttons">
          <button type="submit" disabled={broken.value.size > 0}>
            Explain
          </button>
        </div>
      </form>
      {result.value?.ok === false && <ProblemNotice problem={result.value.problem} />}
      {result.value?.ok && <Answer answer={result.value.data} />}
    </section>
  );
}

function Answer({ answer }: { readonly answer: Explanation }) {
  const { decision, step, rule, reason, remedy, tools = [] } = answer;
  return (
    <div role="status">
      {decision && (
        <p>
          <strong>{decision}</strong> by {step}
          {rule && ` (${rule})`}
        </p>
      )}
      {[reason, remedy].filter(Boolean).map((text) => (
        <p key={text}>
          <ExactText text={text ?? ''} />
        </p>
      ))}
      {!decision && (
        <p>
          {tools.map((name) => (
            <span key={name}>
              <a href={hrefOf('setup', 'tools', name)}>{name}</a>{' '}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
