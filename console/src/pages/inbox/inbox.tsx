/** All approvals that wait, live, with the one that is chosen beside them. */
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { type EventStream, followEvents } from '../../api/event-stream.ts';
import { addressOf } from '../../api/request.ts';
import { useRequest } from '../../api/use-request.ts';
import { currentSearch, setSearch } from '../../app/router.ts';
import { useShortcut } from '../../app/shortcuts.ts';
import { useListKeys } from '../../app/use-list-keys.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { StreamNotice } from '../../components/stream-notice.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { type Approval, createApprovalList, matches } from './approval-list.ts';
import { ApprovalView } from './approval-view.tsx';
import { Proposals } from './proposals.tsx';

export default function Inbox() {
  const search = currentSearch.value;
  const [id, filter, mine] = ['id', 'q', 'mine'].map((name) => search.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const { list, stream } = useApprovals(mine);
  const shown = list.pending.value.filter((approval) => matches(approval, filter));
  const first = useFirst(shown, `${filter} ${mine}`);
  const selected = id || first.id;
  useListKeys(
    shown.map((approval) => approval.id),
    selected,
    (next) => setSearch({ id: next }),
  );
  const goOn = (): void => {
    // The stream tells what became of it, a moment later.
    list.drop(selected ?? '');
    first.release();
    setSearch({ id: '' });
  };
  const isLive = stream?.state.value === 'live';
  return (
    <section class="page">
      <div class="page-head">
        <h1>Inbox</h1>
        <span class="badge waiting_approval">{list.pending.value.length} waiting</span>
        <Filter filter={filter} mine={mine} />
        <Proposals />
        <CopyAs name="GET /v1/approvals" parts={{ query: { status: 'pending' } }} command={['approvals']} />
      </div>
      <StreamNotice stream={stream} />
      {isLive && list.pending.value.length === 0 && !id && (
        <p class="notice">
          Nothing waits. A rule of an agent asks before its commands run:{' '}
          <code>npx tempoclaw agents create clerk --exec-ask always</code>
        </p>
      )}
      <div class={`split ${id ? 'has-chosen' : ''}`}>
        <VirtualList
          items={shown}
          keyOf={(approval) => approval.id}
          label="Approvals that wait"
          estimate={72}
        >
          {(approval) => <ApprovalRow approval={approval} isSelected={approval.id === selected} />}
        </VirtualList>
        <div class="detail">
          {id && (
            <button type="button" class="quiet back" onClick={() => setSearch({ id: '' })}>
              ← All
            </button>
          )}
          {selected && (
            <Selected key={selected} id={selected} streamed={list.find(selected)} onDecided={goOn} />
          )}
        </div>
      </div>
    </section>
  );
}

interface SelectedProps {
  readonly id: string;
  /** Undefined when it was decided before the page was opened, or is not known yet. */
  readonly streamed: Approval | undefined;
  readonly onDecided: () => void;
}

function Selected({ id, streamed, onDecided }: SelectedProps) {
  if (streamed) return <ApprovalView approval={streamed} onDecided={onDecided} />;
  return <Read id={id} onDecided={onDecided} />;
}

/** One that the stream does not have. */
function Read({ id, onDecided }: Omit<SelectedProps, 'streamed'>) {
  const { data, problem, reload } = useRequest('GET /v1/approvals/{id}', { params: { id } });
  if (problem.value) return <ProblemNotice problem={problem.value} retry={reload} />;
  return data.value ? <ApprovalView approval={data.value} onDecided={onDecided} /> : null;
}

/**
 * The first approval, which stays the one that is shown until the person goes on: a key that is pressed as another one
 * takes its place in the list would decide what nobody has read.
 */
function useFirst(shown: readonly Approval[], filter: string) {
  const kept = useRef<{ readonly filter: string; readonly id: string | undefined }>({
    filter,
    id: undefined,
  });
  if (kept.current.filter !== filter || kept.current.id === undefined)
    kept.current = { filter, id: shown[0]?.id };
  return {
    id: kept.current.id,
    release(): void {
      kept.current = { filter, id: undefined };
    },
  };
}

function Filter({ filter, mine }: { readonly filter: string; readonly mine: string }) {
  const input = useRef<HTMLInputElement>(null);
  useShortcut(
    '/',
    'Filter',
    useCallback(() => input.current?.focus(), []),
  );
  return (
    <>
      <input
        ref={input}
        type="search"
        aria-label="Only with these words"
        placeholder="Filter"
        value={filter}
        onInput={({ currentTarget }) => setSearch({ q: currentTarget.value, id: '' })}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={mine === 'true'}
          onChange={({ currentTarget }) => setSearch({ mine: currentTarget.checked ? 'true' : '', id: '' })}
        />
        that I may decide
      </label>
    </>
  );
}

interface RowProps {
  readonly approval: Approval;
  readonly isSelected: boolean;
}

function ApprovalRow({ approval, isSelected }: RowProps) {
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    <button
      ref={row}
      type="button"
      class="row"
      aria-current={isSelected ? 'true' : undefined}
      onClick={() => setSearch({ id: approval.id })}
    >
      <span class="row-name">
        <ExactText text={approval.summary} />
      </span>
      {approval.tally && <span class="badge">{approval.tally}</span>}
      <span class="row-more">
        {approval.agent}
        {approval.user && ` · ${approval.user}`} · <TimeAgo at={approval.created_at} />
        {approval.risk && ` · ${approval.risk}`}
      </span>
    </button>
  );
}

function useApprovals(mine: string) {
  const list = useRef(createApprovalList()).current;
  const stream = useSignal<EventStream | undefined>(undefined);
  useEffect(() => {
    list.clear();
    const query = mine === 'true' ? { mine: 'true' as const } : {};
    const { address } = addressOf('GET /v1/approvals/events', { query });
    const opened = followEvents<Approval>(address, {
      deliver: list.add,
      reset: list.clear,
      isNumbered: false,
    });
    stream.value = opened;
    return () => opened.close();
  }, [list, mine]);
  return { list, stream: stream.value };
}
