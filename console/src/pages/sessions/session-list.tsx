/** The sessions, newest change first. */
import { useSignal } from '@preact/signals';
import type { Operations } from '@tempoclaw/client';
import { addressOf } from '../../api/request.ts';
import { useList } from '../../api/use-list.ts';
import { AFTER_SESSIONS } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { SearchBox } from '../../components/bound.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { RowText } from '../../components/fact.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';

type Session = Operations['GET /v1/sessions']['answer']['data'][number];

export default function SessionList() {
  const agent = useSignal('');
  const query = { limit: 100, ...(agent.value && { agent: agent.value }) };
  const { address } = addressOf('GET /v1/sessions', { query });
  const { first, rows, more } = useList<Session>(address, AFTER_SESSIONS);
  const head = (
    <>
      <a class="button" href={hrefOf('new-session')}>
        New
      </a>
      <SearchBox
        label="Only of this agent"
        hint="Agent"
        value={agent.value}
        onChange={(text) => (agent.value = text)}
      />
      <CopyAs name="GET /v1/sessions" parts={{ query }} command={['sessions', 'list']} />
    </>
  );
  const none = agent.value
    ? `No sessions of ${agent.value}.`
    : 'No sessions yet. Begin one with: npx tempoclaw chat';
  return (
    <PageFrame title="Sessions" head={head} readings={[first]}>
      {rows?.length === 0 && <p class="notice">{none}</p>}
      {rows && rows.length > 0 && (
        <VirtualList
          items={newest(rows)}
          keyOf={({ key }) => key}
          label="Sessions"
          estimate={64}
          onEnd={more}
        >
          {(session) => <SessionRow session={session} />}
        </VirtualList>
      )}
    </PageFrame>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  const { key, title, status, agent, user, turns, updated_at: at } = session;
  const words = [title !== null && key, agent, user, `${turns} ${turns === 1 ? 'turn' : 'turns'}`];
  return (
    <a class="row" href={hrefOf('sessions', key)}>
      <RowText name={title ?? key} status={status}>
        {words.filter(Boolean).join(' · ')} · <TimeAgo at={at} />
      </RowText>
    </a>
  );
}

/** A session that has changed moves to the first page, and is shown there only. */
function newest(rows: readonly Session[]): readonly Session[] {
  const once = new Map(rows.toReversed().map((session) => [session.key, session]));
  return [...once.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
}
