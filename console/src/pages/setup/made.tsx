/** Things that are seen once: the value of a secret before it is set, the secret of a key when it is made. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { addressOf } from '../../api/request.ts';
import { bound } from '../../components/bound.tsx';
import { Button } from '../../components/button.tsx';
import { copy } from '../../components/copy-as.tsx';
import type { Values } from '../../components/field-schema.ts';
import { OperationForm } from './operation-form.tsx';

interface MadeProps {
  readonly answer: Values;
}

export function MadeKey({ answer: { name, secret } }: MadeProps) {
  return <Once text={secret} title={`The secret of the key ${String(name)}`} />;
}

export function MadeNode({ answer: { name, url, code } }: MadeProps) {
  const command = code && `npx tempoclaw node --url ${String(url)} --code ${String(code)}`;
  return <Once text={command} title={`For ${String(name)}, to be run there within ten minutes`} />;
}

function Once({ title, text }: { readonly title: string; readonly text: unknown }) {
  // The server keeps none: a request that was sent again is answered without it.
  if (typeof text !== 'string')
    return <p role="alert">The answer was lost on its way. Remove this one, and make another.</p>;
  return (
    <div role="alert">
      <p>{title}. It is shown only now:</p>
      <code class="block">{text}</code>
      <Button onClick={() => void copy(text)}>Copy</Button>
    </div>
  );
}

/** The page forgets the value when the form goes. */
export function SecretForm({ onDone }: { readonly onDone: (answer: Values) => void }) {
  const id = useId();
  const name = useSignal('');
  const path = '/v1/secrets/{name}';
  return (
    <>
      <div class="field">
        <label for={id}>name</label>
        <input id={id} autocomplete="off" spellcheck={false} {...bound(name)} />
        <small>Refer to it as secret://{name.value.trim() || 'NAME'}</small>
      </div>
      <OperationForm
        path={path}
        {...addressOf(`PUT ${path}`, { params: { name: name.value.trim() } })}
        button="Set"
        refusal={name.value.trim() === '' ? 'It needs a name' : undefined}
        onDone={onDone}
      />
    </>
  );
}
