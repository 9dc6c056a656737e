/** Keeps the steps of a turn that runs as they are, by the events of its session. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { StreamedEvent } from '../../api/event-stream.ts';
import { addressOf } from '../../api/request.ts';
import { useEvents } from '../../api/use-events.ts';
import { useRequest } from '../../api/use-request.ts';
import { StreamNotice, Trouble } from '../../components/notices.tsx';
import type { createStepList } from './step-list.ts';
import type { Turn } from './timeline.ts';

/** These change no row. */
const PARTIAL = new Set<StreamedEvent['type']>([
  'message.thinking',
  'message.delta',
  'message.reset',
  'tool.output',
]);

interface LiveStepsProps {
  readonly turn: Turn;
  readonly list: ReturnType<typeof createStepList>;
  readonly reload: () => void;
}

export function LiveSteps({ turn: { session_key: key }, list, reload }: LiveStepsProps) {
  const session = useRequest('GET /v1/sessions/{key}', { params: { key } });
  const first = useRef<number | undefined>(undefined);
  first.current ??= session.data.value?.last_event_id;
  /** The page was away for so long that events are gone: what is kept of them is read from its beginning. */
  const isTrimmed = useSignal(false);
  const query = isTrimmed.value ? {} : { after: first.current };
  const { address } = addressOf('GET /v1/sessions/{key}/events', { params: { key }, query });
  const stream = useEvents<StreamedEvent>(first.current === undefined ? undefined : address, {
    deliver(events) {
      if (events.every(({ type }) => PARTIAL.has(type))) return;
      list.refresh(events.some(({ type }) => /^(subagent|delegation|evaluation)\./.test(type)));
      reload();
    },
    reset: () => (isTrimmed.value = true),
  });
  const isLive = stream?.state.value === 'live';
  useEffect(() => {
    if (!isLive) return;
    // What happened before the session's number of events, or what could not be read while the API was away.
    list.refresh(true);
    reload();
  }, [isLive, list, reload]);
  if (first.current === undefined) return <Trouble reading={session} />;
  return <StreamNotice stream={stream} />;
}
