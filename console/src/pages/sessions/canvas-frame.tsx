/**
 * The page that the agent shows beside the conversation. It runs in a frame without an origin and without a network: it
 * only gets the agent's steps, and gives what it sends to its agent.
 */
import { useEffect, useRef } from 'preact/hooks';
import { OFFLINE, problemText, readProblem } from '../../api/problem.ts';
import { request, send } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { notify } from '../../app/toasts.tsx';
import { useNewest } from '../../app/use-newest.ts';

interface CanvasFrameProps {
  readonly session: string;
  /** The newest version that the feed knows of. */
  readonly changed: number;
}

export function CanvasFrame({ session, changed }: CanvasFrameProps) {
  const { data, reload } = useRequest('GET /v1/sessions/{key}/canvas', { params: { key: session } });
  const canvas = data.value;
  useEffect(() => {
    if (canvas && changed > canvas.version) reload();
  }, [canvas, changed, reload]);
  if (!canvas || canvas.steps.length === 0) return null;
  return (
    <details class="canvas" open>
      <summary>Canvas</summary>
      {/* A page that is shown anew has a new frame, so that nothing of the one before stays. */}
      <Frame key={canvas.version - canvas.steps.length} session={session} steps={canvas.steps} />
    </details>
  );
}

function Frame({ session, steps }: { readonly session: string; readonly steps: readonly object[] }) {
  const frame = useRef<HTMLIFrameElement>(null);
  /** Steps that the frame has; undefined until it is ready for any. */
  const done = useRef<number | undefined>(undefined);
  const newest = useNewest(steps);
  const sendSteps = (): void => {
    const { current: count } = done;
    if (count === undefined || count >= newest.current.length) return;
    // Its origin is none, so no other can be named.
    frame.current?.contentWindow?.postMessage({ steps: newest.current.slice(count) }, '*');
    done.current = newest.current.length;
  };
  const sendEvent = useEvents(session);
  useEffect(() => {
    const hear = ({ source, data }: MessageEvent<{ canvas?: unknown; data?: unknown } | null>): void => {
      if (source === null || source !== frame.current?.contentWindow) return;
      if (data?.canvas === 'ready') {
        done.current ??= 0;
        sendSteps();
      } else if (data?.canvas === 'event') void sendEvent(data.data);
    };
    window.addEventListener('message', hear);
    return () => window.removeEventListener('message', hear);
  }, [session]);
  useEffect(sendSteps, [steps]);
  return <iframe ref={frame} title="What the agent shows" sandbox="allow-scripts" src="canvas/frame" />;
}

const MAX_CHARS = 4_000;

/** Sends over one link, which limits how often the page may send. */
function useEvents(session: string): (data: unknown) => Promise<void> {
  const link = useRef<Promise<string | undefined> | undefined>(undefined);
  return async (data) => {
    const failed = (why: string): void => notify('failed', `The canvas could not send: ${why}`);
    if (!may('run')) return failed('your key lacks the scope run');
    if ((jsonOf(data)?.length ?? Infinity) > MAX_CHARS) return failed('it is too much, or no JSON');
    link.current ??= makeLink(session);
    const path = await link.current;
    const answer = path === undefined ? OFFLINE : await send('POST', `${path}/events`, { data });
    if (answer instanceof Response && answer.ok) return;
    const problem = answer instanceof Response ? await readProblem(answer) : answer;
    // The link has ended, or could not be made. One that refuses what comes too often stays.
    if (path === undefined || problem.status === 404) link.current = undefined;
    failed(problemText(problem));
  };
}

function jsonOf(data: unknown): string | undefined {
  try {
    return JSON.stringify(data);
  } catch {
    return undefined;
  }
}

async function makeLink(session: string): Promise<string | undefined> {
  const made = await request('POST /v1/sessions/{key}/canvas/links', {
    params: { key: session },
    body: { seconds: 3_600 },
  });
  return made.ok ? `canvas/${new URL(made.data.url).pathname.split('/').at(-1)}` : undefined;
}
