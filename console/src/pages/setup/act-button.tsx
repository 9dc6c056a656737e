/** A button that sends one request. Where it takes something away, it asks first. */
import { useSignal } from '@preact/signals';
import { addressOf, requestAt } from '../../api/request.ts';
import type { Scope } from '../../api/session.ts';
import { report } from '../../app/toasts.tsx';
import { Button, Popover } from '../../components/button.tsx';
import { CopyAsAt } from '../../components/copy-as.tsx';
import type { Values } from '../../components/field-schema.ts';
import type { Kind } from './kind.ts';

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
  const isBusy = useSignal(false);
  const act = async (): Promise<void> => {
    isBusy.value = true;
    const result = await requestAt<Values>(method, address, body);
    isBusy.value = false;
    if (report(result, `${name}: done`) && result.ok) onDone(result.data);
  };
  const about = { scope, disabled: isBusy.value, 'aria-label': name };
  if (question === undefined)
    return (
      <Button {...about} onClick={() => void act()}>
        {label}
      </Button>
    );
  return (
    <Popover {...about} label={label}>
      {(closing) => (
        <>
          <p>{question}</p>
          <Button {...closing} onClick={() => void act()}>
            Yes: {name}
          </Button>
          {command && <CopyAsAt method={method} address={address} command={command} />}
        </>
      )}
    </Popover>
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
      {...addressOf(`DELETE ${path}/{id}`, { params: { id } })}
      command={[slug, label.toLowerCase(), id]}
      onDone={onDone}
    />
  );
}
