/** Keeps the steps of a turn that runs as they are, by the events of its session. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type EventStream, followEvents, type StreamedEvent } from '../../api/event-stream.ts';
import { addressOf } from '../../api/request.ts';
import { useRequest } from '../../api/use-request.ts';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { StreamNotice } from '../../components/stream-notice.tsx';
import type { createStepList } from './step-list.ts';
import type { Turn } from './timeline.ts';

/** These change no row. */
const PARTIAL = new Set<StreamedEvent['type']>(['message.delta', 'message.reset', 'tool.output']);

interface LiveStepsProps {
  readonly turn: Turn;
  readonly list: ReturnType<typeof createStepList>;
  readonly reload: () => void;
}

export function LiveSteps({ turn: { session_key: key }, list, reload }: LiveStepsProps) {
  const session = useRequest('GET /v1/sessions/{key}', { params: { key } });
  const stream = useSignal<EventStream | undefined>(undefined);
  /** The page was away for so long that events are gone: what is kept of them is read from its beginning. */
  const isTrimmed = useSignal(false);
  const isKnown = session.data.value !== undefined;
  useEffect(() => {
    const after = session.data.peek()?.last_event_id;
    if (after === undefined) return undefined;
    const query = isTrimmed.value ? {} : { after };
    const { address } = addressOf('GET /v1/sessions/{key}/events', { params: { key }, query });
    const opened = followEvents<StreamedEvent>(address, {
      deliver(events) {
        if (events.every(({ type }) => PARTIAL.has(type))) return;
        list.refresh(events.some(({ type }) => /^(subagent|delegation|evaluation)\./.test(type)));
        reload();
      },
      reset() {
        isTrimmed.value = true;
      },
    });
    stream.value = opened;
    return () => opened.close();
  }, [isKnown, isTrimmed.value, isTrimmed, key, list, reload, session.data, stream]);
  const isLive = stream.value?.state.value === 'live';
  useEffect(() => {
    if (!isLive) return;
    // What happened before the session's number of events, or what could not be read while the API was away.
    list.refresh(true);
    reload();
  }, [isLive, list, reload]);
  const problem = session.problem.value;
  if (problem && !isKnown) return <ProblemNotice problem={problem} retry={session.reload} />;
  return <StreamNotice stream={stream.value} />;
}
