/** One session: what was said and done, live. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { StreamedEvent } from '../../api/event-stream.ts';
import { addressOf } from '../../api/request.ts';
import { useEvents } from '../../api/use-events.ts';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf, type PageProps } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { Badge } from '../../components/fact.tsx';
import { NotYet, StreamNotice } from '../../components/notices.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { CanvasFrame } from './canvas-frame.tsx';
import { Composer } from './composer.tsx';
import type { FeedItem } from './feed-items.ts';
import { FeedRow } from './feed-row.tsx';
import { createFeed, type FeedStatus } from './session-feed.ts';

export default function SessionView({ params: { key = '' } }: PageProps) {
  const session = useRequest('GET /v1/sessions/{key}', { params: { key } });
  const { items, status, canvas, stream } = useSessionFeed(key);
  const shown = session.data.value;
  if (!shown) return <NotYet reading={session} />;
  const state = status.value ?? shown.status;
  const title = shown.title ?? shown.key;
  const parts = { params: { key } };
  const from = shown.forked_from;
  const head = (
    <>
      <Badge status={state} />
      <span class="row-more">{[shown.agent, shown.user].filter(Boolean).join(' · ')}</span>
      <CopyAs name="GET /v1/sessions/{key}/messages" parts={parts} command={['sessions', 'messages', key]} />
      {from && <a href={hrefOf('runs', from.turn_id)}>Fork of {from.session}</a>}
      <a href={hrefOf('sessions', key, 'graph')}>Work below</a>
    </>
  );
  return (
    <PageFrame title={title} trail={[['Sessions', 'sessions']]} temporal={shown.links.temporal} head={head}>
      <StreamNotice stream={stream} />
      <div class="beside">
        <VirtualList
          items={items.value}
          keyOf={(item) => item.key}
          label={`What was said and done in ${title}`}
          estimate={72}
          follows
        >
          {(item) => <FeedRow item={item} />}
        </VirtualList>
        <CanvasFrame session={key} changed={canvas.value} />
      </div>
      <Composer session={key} isRunning={state !== 'idle'} />
    </PageFrame>
  );
}

/** The feed of a session from its first event that is kept. */
function useSessionFeed(key: string) {
  const items = useSignal<readonly FeedItem[]>([]);
  const status = useSignal<FeedStatus | undefined>(undefined);
  const canvas = useSignal(0);
  const feed = useRef(createFeed());
  const { address } = addressOf('GET /v1/sessions/{key}/events', { params: { key } });
  const stream = useEvents<StreamedEvent>(address, {
    deliver(events) {
      feed.current.add(events);
      items.value = feed.current.items();
      status.value = feed.current.status();
      canvas.value = feed.current.canvas();
    },
    reset() {
      feed.current = createFeed();
    },
  });
  return { items, status, canvas, stream };
}
