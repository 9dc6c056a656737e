/** One run: the steps of a turn on one time axis, and all that is known of the step that is chosen. */
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { useRequest } from '../../api/use-request.ts';
import { currentSearch, hrefOf, navigate, type PageProps, setSearch } from '../../app/router.ts';
import { useListKeys } from '../../app/shortcuts.ts';
import { durationText, moneyText } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Badge, Sign } from '../../components/fact.tsx';
import { NotYet, ProblemNotice } from '../../components/notices.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { useNow } from '../../components/time-ago.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { LiveSteps } from './live-steps.tsx';
import { createStepList } from './step-list.ts';
import { StepPanel } from './step-panel.tsx';
import { UndoButton } from './undo-button.tsx';
import { isOpen, rowsOf, spanOf, type TimelineRow, type Turn } from './timeline.ts';

const TICK_MS = 1_000;
const SETTLE_MS = 150;
const CHOSEN = 'step';

export default function RunView({ params: { id = '' } }: PageProps) {
  const turn = useRequest('GET /v1/turns/{id}', { params: { id } });
  const shown = turn.data.value;
  if (!shown) return <NotYet reading={turn} />;
  return <Run key={id} turn={shown} reload={turn.reload} />;
}

function Run({ turn, reload }: { readonly turn: Turn; readonly reload: () => void }) {
  const { id, session_key: session } = turn;
  const chosen = currentSearch.value.get(CHOSEN) ?? '';
  const list = useMemo(() => createStepList(id), [id]);
  useEffect(() => list.close, [list]);
  useEffect(() => list.readTo(Math.max(1, Number.parseInt(chosen, 10) || 0)), [list, chosen]);
  const now = useNow(isOpen(turn) ? TICK_MS : undefined);
  const steps = list.all.value;
  const isWhole = list.isWhole.value;
  const rows = useMemo(() => rowsOf(turn, steps, isWhole, now), [turn, steps, isWhole, now]);
  const span = useMemo(() => spanOf(turn, rows, now), [turn, rows, now]);
  const settled = useSettled(chosen);
  const panel = useRef<HTMLDivElement>(null);
  const choose = (key: string): void => setSearch({ [CHOSEN]: key });
  const keys = useMemo(() => rows.map(({ key }) => key), [rows]);
  useListKeys(keys, chosen, choose);
  const onEnd = useCallback(() => list.more(), [list]);
  const retry = (): void => (isWhole ? list.refresh(true) : list.readTo(steps.length + 1));
  return (
    <PageFrame
      title="Run"
      trail={[
        ['Sessions', 'sessions'],
        [session, 'sessions', session],
      ]}
      temporal={turn.links.temporal}
      head={<RunHead turn={turn} />}
    >
      {isOpen(turn) && <LiveSteps turn={turn} list={list} reload={reload} />}
      {turn.error && (
        <p class="notice bad" role="status">
          {turn.error.code}: <ExactText text={turn.error.message} />
        </p>
      )}
      {list.problem.value && <ProblemNotice problem={list.problem.value} retry={retry} />}
      {isWhole && rows.length === 0 && (
        <p class="notice">
          This run waits. The queue of its session: <code>npx tempoclaw sessions show {session}</code>
        </p>
      )}
      <div class={`split ${chosen ? 'has-chosen' : ''}`}>
        <div class="timeline">
          <div class="axis" aria-hidden="true">
            {TICKS.map((part) => (
              <small key={part}>{durationText(part * span.length)}</small>
            ))}
          </div>
          <VirtualList
            items={rows}
            keyOf={({ key }) => key}
            label="Steps of the run"
            estimate={40}
            onEnd={onEnd}
            shown={chosen}
          >
            {(row) => (
              <Row
                row={row}
                span={span}
                isChosen={row.key === chosen}
                choose={() => (row.key === chosen ? panel.current?.focus() : choose(row.key))}
              />
            )}
          </VirtualList>
        </div>
        <div ref={panel} class="detail" tabIndex={-1} role="region" aria-label="The chosen step">
          {!chosen && <p class="notice">Choose a step, or press j.</p>}
          {chosen && (
            <Button class="quiet back" onClick={() => choose('')}>
              ← All
            </Button>
          )}
          {chosen && settled && (
            <StepPanel turn={turn} at={settled} row={rows.find(({ key }) => key === settled)} />
          )}
        </div>
      </div>
    </PageFrame>
  );
}

const TICKS = [0, 0.25, 0.5, 0.75, 1];

function RunHead({ turn }: { readonly turn: Turn }) {
  const { id, agent, steps, usage, status, ended_at: end } = turn;
  const from = Date.parse(turn.started_at ?? turn.created_at);
  const compare = (event: SubmitEvent): void => {
    event.preventDefault();
    const other = new FormData(event.currentTarget as HTMLFormElement).get('other');
    navigate(hrefOf('runs', id, 'compare', String(other).trim()));
  };
  const other = { name: 'other', required: true, pattern: '.*\\S.*', placeholder: 'turn_…' };
  return (
    <>
      <Badge status={status} />
      <span class="row-more">
        {agent} · {steps} steps · {usage.input_tokens + usage.output_tokens} tokens ·{' '}
        {moneyText(usage.cost_usd)}
        {end && ` · ${durationText(Date.parse(end) - from)}`}
      </span>
      <form class="check" onSubmit={compare}>
        <input {...other} aria-label="The id of another run" />
        <button type="submit">Compare</button>
      </form>
      <UndoButton turn={turn} />
      <CopyAs name="GET /v1/turns/{id}/steps" parts={{ params: { id } }} command={['turns', 'steps', id]} />
    </>
  );
}

interface RowProps {
  readonly row: TimelineRow;
  readonly span: { readonly from: number; readonly length: number };
  readonly isChosen: boolean;
  readonly choose: () => void;
}

function Row({ row, span, isChosen, choose }: RowProps) {
  const { key, name, summary, state, bars, note } = row;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isChosen) return;
    button.current?.scrollIntoView({ block: 'nearest' });
    // The key that chose it goes on from there; Enter then goes to the panel.
    if (document.activeElement?.closest('.timeline')) button.current?.focus();
  }, [isChosen]);
  const percent = (ms: number): string => `${(ms / span.length) * 100}%`;
  return (
    <button
      ref={button}
      type="button"
      class={`row depth-${key.split('.').length}`}
      aria-current={isChosen ? 'true' : undefined}
      onClick={choose}
    >
      <span class="row-name">
        <Sign state={state} /> <ExactText text={name} />{' '}
        <small>
          <ExactText text={summary.slice(0, 200)} />
        </small>
      </span>
      <small>{note}</small>
      <span class="bars" aria-hidden="true">
        {bars.map(({ kind, from, to }) => (
          <span
            key={kind}
            class={`bar ${kind}`}
            style={{ left: percent(from - span.from), width: percent(to - from) }}
          />
        ))}
      </span>
    </button>
  );
}

/** The value once it stays, so that of the steps that a held key passes only the last is read. */
function useSettled(value: string): string {
  const settled = useSignal(value);
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled.value;
}
