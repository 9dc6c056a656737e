/** The sessions, newest change first. */
import { useSignal } from '@preact/signals';
import { useCallback, useRef } from 'preact/hooks';
import type { Operations } from '../../api/operations.ts';
import { addressOf } from '../../api/request.ts';
import { useOlder } from '../../api/use-older.ts';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { useShortcut } from '../../app/shortcuts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';

type Session = Operations['GET /v1/sessions']['answer']['data'][number];

const REFRESH_MS = 5_000;

export default function SessionList() {
  const agent = useSignal('');
  const query = { limit: 100, ...(agent.value && { agent: agent.value }) };
  const first = useRequest('GET /v1/sessions', { query }, { everyMs: REFRESH_MS });
  const older = useOlder<Session>(addressOf('GET /v1/sessions', { query }).address);
  const filter = useRef<HTMLInputElement>(null);
  useShortcut(
    '/',
    'Filter by agent',
    useCallback(() => filter.current?.focus(), []),
  );
  const page = first.data.value;
  return (
    <section class="page">
      <div class="page-head">
        <h1>Sessions</h1>
        <a class="button" href={hrefOf('new-session')}>
          New
        </a>
        <input
          ref={filter}
          type="search"
          aria-label="Only of this agent"
          placeholder="Agent"
          value={agent.value}
          onChange={(event) => {
            agent.value = event.currentTarget.value.trim();
            older.clear();
          }}
        />
        <CopyAs name="GET /v1/sessions" parts={{ query }} command={['sessions', 'list']} />
      </div>
      {first.problem.value && <ProblemNotice problem={first.problem.value} retry={first.reload} />}
      {page && page.data.length === 0 && (
        <p class="notice">
          {agent.value
            ? `No sessions of ${agent.value}.`
            : 'No sessions yet. Begin one with: npx tempoclaw chat'}
        </p>
      )}
      {page && page.data.length > 0 && (
        <VirtualList
          items={joined(page.data, older.rows.value)}
          keyOf={({ key }) => key}
          label="Sessions"
          estimate={64}
          onEnd={() => void older.load(page)}
        >
          {(session) => <SessionRow session={session} />}
        </VirtualList>
      )}
    </section>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  return (
    <a class="row" href={hrefOf('sessions', session.key)}>
      <span class="row-name">{session.title ?? session.key}</span>
      <span class={`badge ${session.status}`}>{session.status.replace('_', ' ')}</span>
      <span class="row-more">
        {session.title !== null && `${session.key} · `}
        {session.agent}
        {session.user && ` · ${session.user}`} · {session.turns} {session.turns === 1 ? 'turn' : 'turns'} ·{' '}
        <TimeAgo at={session.updated_at} />
      </span>
    </a>
  );
}

/** A session that has changed moves to the first page, and is shown there only. */
function joined(first: readonly Session[], older: readonly Session[]): readonly Session[] {
  return [...new Map([...older, ...first].map((session) => [session.key, session])).values()].sort((a, b) =>
    a.updated_at < b.updated_at ? 1 : -1,
  );
}
