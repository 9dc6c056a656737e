/** One run: the steps of a turn on one time axis, and all that is known of the step that is chosen. */
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { useRequest } from '../../api/use-request.ts';
import { currentSearch, hrefOf, type PageProps, setSearch } from '../../app/router.ts';
import { useListKeys } from '../../app/use-list-keys.ts';
import { durationText, moneyText } from '../../components/amounts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { NotYet } from '../../components/not-yet.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { CompareForm } from './compare-form.tsx';
import { LiveSteps } from './live-steps.tsx';
import { createStepList } from './step-list.ts';
import { StepPanel } from './step-panel.tsx';
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
  const chosen = currentSearch.value.get(CHOSEN) ?? '';
  const list = useMemo(() => createStepList(turn.id), [turn.id]);
  useEffect(() => list.close, [list]);
  useEffect(() => list.readTo(Math.max(1, Number.parseInt(chosen, 10) || 0)), [list, chosen]);
  const now = useNow(isOpen(turn));
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
  return (
    <section class="page">
      <RunHead turn={turn} />
      {isOpen(turn) && <LiveSteps turn={turn} list={list} reload={reload} />}
      {turn.error && (
        <p class="notice bad" role="status">
          {turn.error.code}: <ExactText text={turn.error.message} />
        </p>
      )}
      {list.problem.value && (
        <ProblemNotice
          problem={list.problem.value}
          retry={() => (isWhole ? list.refresh(true) : list.readTo(steps.length + 1))}
        />
      )}
      {isWhole && rows.length === 0 && (
        <p class="notice">
          This run waits. The queue of its session:{' '}
          <code>npx tempoclaw sessions show {turn.session_key}</code>
        </p>
      )}
      <div class={`split ${chosen ? 'has-chosen' : ''}`}>
        <div class="timeline">
          <Axis length={span.length} />
          <VirtualList
            items={rows}
            keyOf={({ key }) => key}
            label="Steps of the run"
            estimate={49}
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
          {chosen ? (
            <>
              <button type="button" class="quiet back" onClick={() => choose('')}>
                ← All
              </button>
              {settled && (
                <StepPanel turn={turn} at={settled} row={rows.find(({ key }) => key === settled)} />
              )}
            </>
          ) : (
            <p class="notice">Choose a step, or press j.</p>
          )}
        </div>
      </div>
    </section>
  );
}

function RunHead({ turn }: { readonly turn: Turn }) {
  const { id, session_key: session, usage, status, links } = turn;
  const from = Date.parse(turn.started_at ?? turn.created_at);
  return (
    <div class="page-head">
      <p class="trail">
        <a href={hrefOf('sessions')}>Sessions</a> / <a href={hrefOf('sessions', session)}>{session}</a> /
      </p>
      <h1>Run</h1>
      <span class={`badge ${status}`}>{status.replace('_', ' ')}</span>
      <span class="row-more">
        {turn.agent} · {turn.steps} steps · {usage.input_tokens + usage.output_tokens} tokens ·{' '}
        {moneyText(usage.cost_usd)}
        {turn.ended_at && ` · ${durationText(Date.parse(turn.ended_at) - from)}`}
      </span>
      <CompareForm id={id} />
      <CopyAs name="GET /v1/turns/{id}/steps" parts={{ params: { id } }} command={['turns', 'steps', id]} />
      {links.temporal && (
        <a href={links.temporal} target="_blank" rel="noreferrer">
          Temporal
        </a>
      )}
    </div>
  );
}

const TICKS = [0, 0.25, 0.5, 0.75, 1];

function Axis({ length }: { readonly length: number }) {
  return (
    <div class="axis" aria-hidden="true">
      {TICKS.map((part) => (
        <small key={part}>{durationText(part * length)}</small>
      ))}
    </div>
  );
}

const SIGNS = { running: '●', waiting: '◷', done: '✔', failed: '✘' } as const;

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
        <span class={`sign ${state}`} role="img" aria-label={state}>
          {SIGNS[state]}
        </span>{' '}
        <ExactText text={name} />{' '}
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
    const timer = setTimeout(() => {
      settled.value = value;
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled.value;
}

/** The time, again each second while something runs. */
function useNow(isRunning: boolean): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => {
      now.value = Date.now();
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning, now]);
  return now.value;
}
