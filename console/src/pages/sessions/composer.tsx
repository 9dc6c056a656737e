/** Where a person writes to the agent: sends messages and files, steers, and stops what runs. */
import { useSignal } from '@preact/signals';
import { useCallback, useRef } from 'preact/hooks';
import type { Operations } from '../../api/operations.ts';
import { problemText } from '../../api/problem.ts';
import { randomId, request, type RequestParts } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { uploadFile, type UploadedFile } from '../../api/upload.ts';
import { useShortcut } from '../../app/shortcuts.ts';
import { notify } from '../../app/toasts.tsx';
import { StopButtons } from './stop-buttons.tsx';

type Mode = NonNullable<Operations['POST /v1/sessions/{key}/messages']['body']['mode']>;

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
  useShortcut(
    'c',
    'Write a message',
    useCallback(() => area.current?.focus(), []),
  );
  const send = async (): Promise<void> => {
    if (isBusy.value || text.value.trim() === '') return;
    isBusy.value = true;
    const body = {
      text: text.value,
      ...(agent && { agent }),
      ...(isRunning && { mode: mode.value }),
      ...(files.value.length > 0 && { attachments: files.value.map(({ id }) => `artifact:${id}`) }),
    };
    const draft = requestOf(body, mode.value);
    const result = await request(
      'POST /v1/sessions/{key}/messages',
      { params: { key: session }, body: draft.body },
      { key: draft.key },
    );
    isBusy.value = false;
    if (!result.ok) return notify('failed', problemText(result.problem));
    forget();
    text.value = '';
    files.value = [];
    onSent?.();
  };
  const why = may('run') ? undefined : 'Your key may not send messages: it lacks the scope run';
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={area}
        aria-label="Message"
        placeholder="Message (Enter sends, Shift+Enter makes a new line)"
        rows={Math.min(8, text.value.split('\n').length)}
        maxLength={262_144}
        disabled={why !== undefined}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
          // Enter also ends the choice of a character in languages that are composed.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      <div class="buttons">
        <FilePicker
          files={files.value}
          isDisabled={why !== undefined}
          add={(file) => (files.value = [...files.value, file])}
        />
        {isRunning && (
          <select
            aria-label="When it is read"
            value={mode.value}
            onChange={({ currentTarget }) => {
              mode.value = currentTarget.value as Mode;
            }}
          >
            {MODES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
        {isRunning && <StopButtons session={session} />}
        <button type="submit" class="primary" title={why} disabled={why !== undefined || isBusy.value}>
          Send
        </button>
      </div>
    </form>
  );
}

type Body = RequestParts<'POST /v1/sessions/{key}/messages'>['body'];

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
  readonly isDisabled: boolean;
  readonly add: (file: UploadedFile) => void;
}

function FilePicker({ files, isDisabled, add }: FilePickerProps) {
  const input = useRef<HTMLInputElement>(null);
  const upload = async (chosen: FileList | null): Promise<void> => {
    for (const file of chosen ?? []) {
      const result = await uploadFile(file);
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
      <button type="button" disabled={isDisabled} onClick={() => input.current?.click()}>
        Attach…
      </button>
      {files.map(({ id, filename }) => (
        <span key={id} class="badge">
          {filename ?? id}
        </span>
      ))}
    </>
  );
}
