/** Where a person writes to the agent: sends messages and files, steers, and stops what runs. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Operations } from '@tempoclaw/client';
import { problemText } from '../../api/problem.ts';
import { addressOf, type RequestParts, randomId, request, requestAt } from '../../api/request.ts';
import { lacks } from '../../api/session.ts';
import { useShortcut } from '../../app/shortcuts.ts';
import { notify, report } from '../../app/toasts.tsx';
import { bound } from '../../components/bound.tsx';
import { Button } from '../../components/button.tsx';
import { StopButtons } from './stop-buttons.tsx';

const SEND = 'POST /v1/sessions/{key}/messages';
const UPLOAD = 'POST /v1/artifacts';

type Body = RequestParts<typeof SEND>['body'];
type Mode = NonNullable<Body['mode']>;
type UploadedFile = Operations[typeof UPLOAD]['answer'];

/** What becomes of a message while a turn runs. */
const MODES: readonly (readonly [Mode, string])[] = [
  ['queue', 'after this turn'],
  ['steer', 'into this turn'],
  ['interrupt', 'instead of this turn'],
];

interface ComposerProps {
  readonly session: string;
  /** For a session that does not exist yet. */
  readonly agent?: string;
  readonly isRunning?: boolean;
  readonly onSent?: () => void;
}

export function Composer({ session, agent, isRunning = false, onSent }: ComposerProps) {
  const text = useSignal('');
  const mode = useSignal<Mode>('queue');
  const files = useSignal<readonly UploadedFile[]>([]);
  const isBusy = useSignal(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const { requestOf, forget } = useDraft();
  useShortcut('c', 'Write a message', () => area.current?.focus());
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy.value || text.value.trim() === '') return;
    isBusy.value = true;
    const body = {
      text: text.value,
      ...(agent && { agent }),
      ...(isRunning && { mode: mode.value }),
      ...(files.value.length > 0 && { attachments: files.value.map(({ id }) => `artifact:${id}`) }),
    };
    const draft = requestOf(body, mode.value);
    const result = await request(SEND, { params: { key: session }, body: draft.body }, { key: draft.key });
    isBusy.value = false;
    if (!report(result)) return;
    forget();
    text.value = '';
    files.value = [];
    onSent?.();
  };
  const typed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') area.current?.blur();
    // Enter also ends the choice of a character in languages that are composed.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event);
  };
  return (
    <form class="composer" onSubmit={(event) => void send(event)}>
      <textarea
        ref={area}
        aria-label="Message"
        placeholder="Message (Enter sends, Shift+Enter makes a new line)"
        rows={Math.min(8, text.value.split('\n').length)}
        maxLength={262_144}
        disabled={lacks('run') !== undefined}
        {...bound(text)}
        onKeyDown={typed}
      />
      <div class="buttons">
        <FilePicker files={files.value} add={(file) => (files.value = [...files.value, file])} />
        {isRunning && (
          <select aria-label="When it is read" {...bound(mode)}>
            {MODES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
        {isRunning && <StopButtons session={session} />}
        <Button type="submit" class="primary" scope="run" disabled={isBusy.value}>
          Send
        </Button>
      </div>
    </form>
  );
}

interface Draft {
  readonly content: string;
  readonly body: Body;
  readonly key: string;
}

/**
 * One request for a draft until it is accepted: when an answer was lost, sending it again does not say it twice. What it
 * says beside the draft stays as it was, though the turn may run by now.
 */
function useDraft() {
  const draft = useRef<Draft | undefined>(undefined);
  return {
    requestOf(body: Body, chosen: string): Draft {
      const content = JSON.stringify([body.text, body.attachments, chosen]);
      if (content !== draft.current?.content) draft.current = { content, body, key: randomId() };
      return draft.current;
    },
    forget(): void {
      draft.current = undefined;
    },
  };
}

interface FilePickerProps {
  readonly files: readonly UploadedFile[];
  readonly add: (file: UploadedFile) => void;
}

function FilePicker({ files, add }: FilePickerProps) {
  const input = useRef<HTMLInputElement>(null);
  const upload = async (chosen: FileList | null): Promise<void> => {
    for (const file of chosen ?? []) {
      const { method, address } = addressOf(UPLOAD, { query: { filename: file.name } });
      const result = await requestAt<UploadedFile>(method, address, file);
      if (result.ok) add(result.data);
      else notify('failed', `${file.name}: ${problemText(result.problem)}`);
    }
    if (input.current) input.current.value = '';
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ currentTarget }) => void upload(currentTarget.files)}
      />
      <Button scope="run" onClick={() => input.current?.click()}>
        Attach…
      </Button>
      {files.map(({ id, filename }) => (
        <span key={id} class="badge">
          {filename ?? id}
        </span>
      ))}
    </>
  );
}
