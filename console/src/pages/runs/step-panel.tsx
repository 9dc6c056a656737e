/** All that is known of one step: what the model read and said, or a call with its outcome and why it was allowed. */
import type { Operations } from '@tempoclaw/client';
import { afterSession, useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { durationText, moneyText } from '../../components/amounts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText, Pre } from '../../components/exact-text.tsx';
import { Fact } from '../../components/fact.tsx';
import { Markdown } from '../../components/markdown.tsx';
import { NotYet } from '../../components/notices.tsx';
import { CallPanel, ChangedFiles, outcomeOf } from './call-panel.tsx';
import { ForkButton } from './fork-button.tsx';
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
  const parts = { params: { id: turn.id, step } };
  // Read again until it is over, and once more then.
  const isBusy = row?.state === 'running' || row?.state === 'waiting';
  const options = isBusy ? afterSession(turn.session_key) : {};
  const detail = useRequest('GET /v1/turns/{id}/steps/{step}', parts, options);
  const found = detail.data.value;
  if (found?.step !== step) {
    const isAnswering = row?.state === 'running' && index === undefined;
    return isAnswering ? <p class="notice">The model has not answered yet.</p> : <NotYet reading={detail} />;
  }
  const command = ['turns', 'step', turn.id, String(step)];
  return (
    <article class="approval" aria-label={`Step ${step}`}>
      {index === undefined ? (
        <ModelPanel turn={turn} step={found} />
      ) : (
        <ChosenCall turn={turn} step={found} index={index} work={rest.join('.')} />
      )}
      <p class="buttons">
        <ForkButton turn={turn} step={step} />
        <CopyAs name="GET /v1/turns/{id}/steps/{step}" parts={parts} command={command} />
      </p>
    </article>
  );
}

interface PanelProps {
  readonly turn: Turn;
  readonly step: Detail;
}

interface ChosenCallProps extends PanelProps {
  readonly index: string;
  /** Id of a piece of its work, or an empty text. */
  readonly work: string;
}

function ChosenCall({ turn, step, index, work }: ChosenCallProps) {
  const call = step.calls.find((one) => String(one.index) === index);
  const record = step.tool_calls.find((one) => String(one.index) === index);
  if (!call || !record) return <p class="bad">Step {step.step} has no such call.</p>;
  return <CallPanel turn={turn} call={call} record={record} work={call.work.find(({ id }) => id === work)} />;
}

function ModelPanel({ turn, step }: PanelProps) {
  const { model, attempt, finish } = step;
  const took = Date.parse(step.ended_at) - Date.parse(step.started_at);
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
        <ChangedFiles calls={step.tool_calls} />
      </dl>
      <h3>What the model read</h3>
      <p>
        {step.after_position > 0 && (
          <>
            The <a href={hrefOf('sessions', turn.session_key)}>transcript</a> up to message{' '}
            {step.after_position}, or its summary.{' '}
          </>
        )}
        {step.messages.length + step.results.length === 0 && 'Nothing new.'}
      </p>
      {step.messages.map(({ id, text }) => (
        <Pre key={id} value={text} label="A message" />
      ))}
      {step.results.map((result) => (
        <details key={result.id}>
          <summary>
            Result of {result.tool}: {outcomeOf(result)}
          </summary>
          <Pre value={result.text ?? ''} />
        </details>
      ))}
      <h3>What it answered</h3>
      {step.text && <Markdown text={step.text} />}
      {step.calls.map(({ index, summary }) => (
        <p key={index}>
          <a href={`${hrefOf('runs', turn.id)}?step=${step.step}.${index}`}>
            <ExactText text={summary} />
          </a>
        </p>
      ))}
    </>
  );
}
