/** A button that sends one request. Where it takes something away, it asks first. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { problemText } from '../../api/problem.ts';
import { addressOf, requestAt } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { notify } from '../../app/toasts.tsx';
import { CopyAsAt } from '../../components/copy-as.tsx';
import type { Values } from '../../components/field-schema.ts';
import { type Kind, lacks, type Scope } from './kind.ts';

interface ActButtonProps {
  readonly label: string;
  /** Names it among others with the same label. */
  readonly name?: string;
  readonly question?: string;
  readonly scope?: Scope;
  readonly method?: string;
  readonly address: string;
  readonly body?: unknown;
  readonly command?: readonly string[];
  readonly onDone: (answer: Values) => void;
}

export function ActButton(props: ActButtonProps) {
  const { label, name = label, question, scope = 'admin', method = 'POST', address, command, onDone } = props;
  const body = props.body ?? (method === 'DELETE' ? undefined : {});
  const id = useId();
  const isBusy = useSignal(false);
  const isOpen = may(scope);
  const act = async (): Promise<void> => {
    isBusy.value = true;
    const result = await requestAt<Values>(method, address, body);
    isBusy.value = false;
    notify(result.ok ? 'done' : 'failed', result.ok ? `${name}: done` : problemText(result.problem));
    if (result.ok) onDone(result.data);
  };
  return (
    <>
      <button
        type="button"
        disabled={!isOpen || isBusy.value}
        title={isOpen ? undefined : lacks(scope)}
        aria-label={name}
        {...(question === undefined ? { onClick: () => void act() } : { popovertarget: id })}
      >
        {label}
      </button>
      {question !== undefined && (
        <div id={id} popover="auto" class="popover">
          <p>{question}</p>
          <button type="button" popovertarget={id} popovertargetaction="hide" onClick={() => void act()}>
            Yes: {name}
          </button>
          {command && <CopyAsAt method={method} address={address} command={command} />}
        </div>
      )}
    </>
  );
}

interface RemoveProps {
  readonly kind: Kind;
  readonly id: string;
  readonly onDone: () => void;
}

export function RemoveButton({ kind: { slug, remove, path, scopes }, id, onDone }: RemoveProps) {
  if (!remove) return null;
  const [label, question] = remove;
  return (
    <ActButton
      label={`${label}…`}
      name={`${label} ${id}`}
      question={question}
      scope={scopes[1]}
      method="DELETE"
      address={addressOf(`DELETE ${path}/{id}`, { params: { id } }).address}
      command={[slug, label.toLowerCase(), id]}
      onDone={onDone}
    />
  );
}
