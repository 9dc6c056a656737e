/** The keys of the page, in a dialog. */
import { useCallback, useRef } from 'preact/hooks';
import { shortcuts, useShortcut } from './shortcuts.ts';

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = useCallback(() => dialog.current?.showModal(), []);
  useShortcut('?', 'Show the keys', open);
  return (
    <>
      <button type="button" class="quiet for-keys" title="Keys (?)" aria-label="Keyboard help" onClick={open}>
        ⌨
      </button>
      <dialog ref={dialog} aria-labelledby="help-title">
        <h2 id="help-title">Keys</h2>
        <dl class="keys">
          {shortcuts.value.map(({ keys, label }) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{label}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
