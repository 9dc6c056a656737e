/** All that is known of one step: what the model read and said, or a call with its outcome and why it was allowed. */
import { useEffect } from 'preact/hooks';
import type { Operations } from '../../api/operations.ts';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { durationText, moneyText } from '../../components/amounts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Fact } from '../../components/fact.tsx';
import { Markdown } from '../../components/markdown.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { CallPanel, outcomeOf } from './call-panel.tsx';
import type { TimelineRow, Turn } from './timeline.ts';

type Detail = Operations['GET /v1/turns/{id}/steps/{step}']['answer'];

interface StepPanelProps {
  readonly turn: Turn;
  /** The key of a row. */
  readonly at: string;
  /** Undefined while it is not read yet, or when there is none. */
  readonly row: TimelineRow | undefined;
}

export function StepPanel({ turn, at, row }: StepPanelProps) {
  const [number = '', index, ...rest] = at.split('.');
  const step = Number.parseInt(number, 10) || 0;
  const params = { id: turn.id, step };
  const detail = useRequest('GET /v1/turns/{id}/steps/{step}', { params });
  const version = `${row?.state} ${row?.note.replace(/^.*?·/, '')}`;
  const { reload } = detail;
  useEffect(() => reload(), [version, reload]);
  const found = detail.data.value;
  if (!found || found.step !== step)
    return row?.state === 'running' ? (
      <p class="notice">The model of step {step} has not answered yet.</p>
    ) : detail.problem.value ? (
      <ProblemNotice problem={detail.problem.value} retry={reload} />
    ) : (
      <p class="notice" aria-busy="true" />
    );
  const call = found.calls.find((one) => String(one.index) === index);
  const record = found.tool_calls.find((one) => String(one.index) === index);
  const work = call?.work.find(({ id }) => id === rest.join('.'));
  return (
    <article class="approval" aria-label={`Step ${step}`}>
      {call && record ? (
        <CallPanel turn={turn} call={call} record={record} work={work} />
      ) : index === undefined ? (
        <ModelPanel turn={turn} step={found} />
      ) : (
        <p class="bad">Step {step} has no such call.</p>
      )}
      <p class="buttons">
        <CopyAs
          name="GET /v1/turns/{id}/steps/{step}"
          parts={{ params }}
          command={['turns', 'step', turn.id, String(step)]}
        />
      </p>
    </article>
  );
}

function ModelPanel({ turn, step }: { readonly turn: Turn; readonly step: Detail }) {
  const { model, attempt, finish } = step;
  const took = Date.parse(step.ended_at) - Date.parse(step.started_at);
  const session = hrefOf('sessions', turn.session_key);
  return (
    <>
      <h2>
        Step {step.step}: {model === 'none' ? 'calls of a person' : model}
      </h2>
      <dl class="facts">
        <Fact name="Agent">
          {turn.agent}
          {turn.agent_revision !== null && `, revision ${turn.agent_revision}`}
        </Fact>
        <Fact name="Took">
          {durationText(took)}
          {(attempt ?? 1) > 1 && `: attempt ${attempt} answered, the ones before failed`}
        </Fact>
        <Fact name="Tokens">
          {step.input_tokens} read ({step.cached_tokens} cached), {step.output_tokens} written
        </Fact>
        <Fact name="Paid">{moneyText(step.cost_usd)}</Fact>
        {finish && <Fact name="Ended by">{finish}</Fact>}
      </dl>
      <h3>What the model read</h3>
      <p>
        {step.after_position > 0 && (
          <>
            The <a href={session}>transcript</a> up to message {step.after_position}, or its summary.{' '}
          </>
        )}
        {step.messages.length + step.results.length === 0 && 'Nothing new.'}
      </p>
      {step.messages.map((message) => (
        <pre key={message.id} aria-label="A message">
          <ExactText text={message.text} />
        </pre>
      ))}
      {step.results.map((result) => (
        <details key={result.id}>
          <summary>
            Result of {result.tool}: {outcomeOf(result)}
          </summary>
          <pre>
            <ExactText text={result.text ?? ''} />
          </pre>
        </details>
      ))}
      <h3>What it answered</h3>
      {step.text && <Markdown text={step.text} />}
      {step.tool_calls.map(({ id, called_as: name }) => (
        <p key={id}>
          It asked for <code>{name}</code>.
        </p>
      ))}
    </>
  );
}
