/** A dialog, which is open for as long as it is in the document. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  /** With a button that only closes it. */
  readonly isRead?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, close, isRead = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="wide" aria-labelledby={id} onClose={close}>
      <h2 id={id}>{title}</h2>
      {children}
      {isRead && (
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      )}
    </dialog>
  );
}
