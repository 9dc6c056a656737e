/** One session: what was said and done, live. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type EventStream, followEvents, type StreamedEvent } from '../../api/event-stream.ts';
import { addressOf } from '../../api/request.ts';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf, type PageProps } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { NotYet } from '../../components/not-yet.tsx';
import { StreamNotice } from '../../components/stream-notice.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { CanvasFrame } from './canvas-frame.tsx';
import { Composer } from './composer.tsx';
import { FeedRow } from './feed-row.tsx';
import type { FeedItem } from './feed-items.ts';
import { createFeed, type FeedStatus } from './session-feed.ts';

export default function SessionView({ params: { key = '' } }: PageProps) {
  const session = useRequest('GET /v1/sessions/{key}', { params: { key } });
  const { items, status, canvas, stream } = useSessionFeed(key);
  const shown = session.data.value;
  if (!shown) return <NotYet reading={session} />;
  const state = status.value ?? shown.status;
  return (
    <section class="page">
      <div class="page-head">
        <p class="trail">
          <a href={hrefOf('sessions')}>Sessions</a> /
        </p>
        <h1>{shown.title ?? shown.key}</h1>
        <span class={`badge ${state}`}>{state.replace('_', ' ')}</span>
        <span class="row-more">
          {shown.agent}
          {shown.user && ` · ${shown.user}`}
        </span>
        <CopyAs
          name="GET /v1/sessions/{key}/messages"
          parts={{ params: { key } }}
          command={['sessions', 'messages', key]}
        />
        <a href={hrefOf('sessions', key, 'graph')}>Work below</a>
        {shown.links.temporal && (
          <a href={shown.links.temporal} target="_blank" rel="noreferrer">
            Temporal
          </a>
        )}
      </div>
      <StreamNotice stream={stream.value} />
      <div class="beside">
        <VirtualList
          items={items.value}
          keyOf={(item) => item.key}
          label={`What was said and done in ${shown.title ?? shown.key}`}
          estimate={72}
          follows
        >
          {(item) => <FeedRow item={item} />}
        </VirtualList>
        <CanvasFrame session={key} changed={canvas.value} />
      </div>
      <Composer session={key} isRunning={state !== 'idle'} />
    </section>
  );
}

/** The feed of a session from its first event that is kept. */
function useSessionFeed(key: string) {
  const items = useSignal<readonly FeedItem[]>([]);
  const status = useSignal<FeedStatus | undefined>(undefined);
  const canvas = useSignal(0);
  const stream = useSignal<EventStream | undefined>(undefined);
  useEffect(() => {
    let feed = createFeed();
    const { address } = addressOf('GET /v1/sessions/{key}/events', { params: { key } });
    const opened = followEvents<StreamedEvent>(address, {
      deliver(events) {
        feed.add(events);
        items.value = feed.items();
        status.value = feed.status();
        canvas.value = feed.canvas();
      },
      reset() {
        feed = createFeed();
      },
    });
    stream.value = opened;
    return () => opened.close();
  }, [key]);
  return { items, status, canvas, stream };
}
