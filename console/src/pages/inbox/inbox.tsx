/** All approvals that wait, live, with the one that is chosen beside them. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { addressOf } from '../../api/request.ts';
import { useEvents } from '../../api/use-events.ts';
import { useRequest } from '../../api/use-request.ts';
import { currentSearch, setSearch } from '../../app/router.ts';
import { useListKeys } from '../../app/shortcuts.ts';
import { SearchBox } from '../../components/bound.tsx';
import { Button } from '../../components/button.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { RowText } from '../../components/fact.tsx';
import { StreamNotice, Trouble } from '../../components/notices.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { type Approval, createApprovalList, matches } from './approval-list.ts';
import { ApprovalView } from './approval-view.tsx';
import { Proposals } from './proposals.tsx';

export default function Inbox() {
  const search = currentSearch.value;
  const [id, filter, mine] = [search.get('id') ?? '', search.get('q') ?? '', search.get('mine') ?? ''];
  const { list, stream } = useApprovals(mine);
  const pending = list.pending.value;
  const shown = pending.filter((approval) => matches(approval, filter));
  const first = useFirst(shown, `${filter} ${mine}`);
  const selected = id || first.id;
  const keys = shown.map((approval) => approval.id);
  useListKeys(keys, selected, (next) => setSearch({ id: next }));
  const goOn = (): void => {
    // The stream tells what became of it, a moment later.
    list.drop(selected ?? '');
    first.release();
    setSearch({ id: '' });
  };
  const head = (
    <>
      <span class="badge waiting_approval">{pending.length} waiting</span>
      <SearchBox value={filter} onInput={(q) => setSearch({ q, id: '' })} />
      <label class="check">
        <input
          type="checkbox"
          checked={mine === 'true'}
          onChange={({ currentTarget }) => setSearch({ mine: currentTarget.checked ? 'true' : '', id: '' })}
        />
        that I may decide
      </label>
      <Proposals />
      <CopyAs name="GET /v1/approvals" parts={{ query: { status: 'pending' } }} command={['approvals']} />
    </>
  );
  return (
    <PageFrame title="Inbox" head={head}>
      <StreamNotice stream={stream} />
      {stream?.state.value === 'live' && pending.length === 0 && !id && (
        <p class="notice">
          Nothing waits. A rule of an agent asks before its commands run:{' '}
          <code>npx tempoclaw agents create clerk --exec-ask always</code>
        </p>
      )}
      {pending.length > 0 && shown.length === 0 && (
        <p class="notice">None of those that wait has these words.</p>
      )}
      <div class={`split ${id ? 'has-chosen' : ''}`}>
        <VirtualList items={shown} keyOf={(one) => one.id} label="Approvals that wait" estimate={72}>
          {(approval) => <ApprovalRow approval={approval} isSelected={approval.id === selected} />}
        </VirtualList>
        <div class="detail">
          {id && (
            <Button class="quiet back" onClick={() => setSearch({ id: '' })}>
              ← All
            </Button>
          )}
          {selected && (
            <Selected key={selected} id={selected} streamed={list.find(selected)} onDecided={goOn} />
          )}
        </div>
      </div>
    </PageFrame>
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
  const reading = useRequest('GET /v1/approvals/{id}', { params: { id } });
  const { problem, data } = reading;
  if (problem.value || !data.value) return <Trouble reading={reading} />;
  return <ApprovalView approval={data.value} onDecided={onDecided} />;
}

/**
 * The first approval, which stays the one that is shown until the person goes on: a key that is pressed as another one
 * takes its place in the list would decide what nobody has read.
 */
function useFirst(shown: readonly Approval[], filter: string) {
  const kept = useRef<{ filter: string; id: string | undefined }>({ filter, id: undefined });
  if (kept.current.filter !== filter || kept.current.id === undefined)
    kept.current = { filter, id: shown[0]?.id };
  const release = (): void => {
    kept.current = { filter, id: undefined };
  };
  return { id: kept.current.id, release };
}

function ApprovalRow({
  approval,
  isSelected,
}: {
  readonly approval: Approval;
  readonly isSelected: boolean;
}) {
  const { id, summary, tally, agent, user, risk, created_at: at } = approval;
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
      onClick={() => setSearch({ id })}
    >
      <RowText name={<ExactText text={summary} />} status={tally ?? undefined}>
        {[agent, user].filter(Boolean).join(' · ')} · <TimeAgo at={at} />
        {risk && ` · ${risk}`}
      </RowText>
    </button>
  );
}

function useApprovals(mine: string) {
  const list = useMemo(createApprovalList, [mine]);
  const query = mine === 'true' ? { mine: 'true' as const } : {};
  const { address } = addressOf('GET /v1/approvals/events', { query });
  const stream = useEvents<Approval>(address, { deliver: list.add, reset: list.clear, isNumbered: false });
  return { list, stream };
}
