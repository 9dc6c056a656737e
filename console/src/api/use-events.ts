/** Follows a stream of events for as long as a component is shown. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useNewest } from '../app/use-newest.ts';
import { type EventStream, followEvents, type StreamReader } from './event-stream.ts';

/** Without an address it waits for one. The functions of the newest drawing get what comes. */
export function useEvents<Event>(
  address: string | undefined,
  reader: StreamReader<Event>,
): EventStream | undefined {
  const stream = useSignal<EventStream | undefined>(undefined);
  const newest = useNewest(reader);
  useEffect(() => {
    if (address === undefined) return undefined;
    const opened = followEvents<Event>(address, {
      deliver: (events) => newest.current.deliver(events),
      reset: () => newest.current.reset(),
      isNumbered: newest.current.isNumbered ?? true,
    });
    stream.value = opened;
    return () => opened.close();
  }, [address, newest, stream]);
  return stream.value;
}
