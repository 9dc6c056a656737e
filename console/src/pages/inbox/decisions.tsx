/** The buttons that decide an approval. */
import { useSignal } from '@preact/signals';
import { useCallback } from 'preact/hooks';
import { may } from '../../api/session.ts';
import { useShortcut } from '../../app/shortcuts.ts';
import { useNewest } from '../../app/use-newest.ts';
import type { Approval } from './approval-list.ts';
import { decide, type Decision } from './decide.ts';
import { DecisionDialog, type DialogKind } from './decision-dialog.tsx';

interface DecisionsProps {
  readonly approval: Approval;
  /** Whether a, r and e decide it: of the approvals of a page, of one only. */
  readonly hasKeys?: boolean;
  /** Called when a decision of this person was taken. */
  readonly onDecided?: () => void;
}

export function Decisions({ approval, hasKeys = false, onDecided }: DecisionsProps) {
  const open = useSignal<DialogKind | undefined>(undefined);
  const isBusy = useSignal(false);
  const isOpen = may('approve');
  // Its sender runs it, so that it can only be answered or rejected.
  const mayRun = approval.terms.client_tool === undefined;
  const isEditable = isOpen && mayRun && !approval.is_masked;
  const send = async (decision: Decision): Promise<void> => {
    if (!isOpen || isBusy.value) return;
    isBusy.value = true;
    const isTaken = await decide(approval, decision);
    isBusy.value = false;
    if (isTaken) onDecided?.();
  };
  const show = (kind: DialogKind): void => {
    if (kind === 'edit' ? isEditable : isOpen) open.value = kind;
  };
  const acts: Acts = {
    approve: () => (mayRun ? void send({ decision: 'approve' }) : show('respond')),
    always: () => void send({ decision: 'approve_always' }),
    reject: () => show('reject'),
    edit: () => show('edit'),
    respond: () => show('respond'),
  };
  return (
    <div class="buttons" role="group" aria-label={`Decision about ${approval.summary}`}>
      {hasKeys && <DecisionKeys {...acts} />}
      {mayRun && <RunButtons approval={approval} acts={acts} isBusy={isBusy.value} />}
      <DecisionButton label="Reject…" hint="r" isBusy={isBusy.value} onClick={acts.reject} />
      {mayRun && (
        <DecisionButton
          label="Edit…"
          hint={approval.is_masked ? 'The arguments hide a secret' : 'e'}
          isBusy={isBusy.value || !isEditable}
          onClick={acts.edit}
        />
      )}
      <DecisionButton label="Answer…" isBusy={isBusy.value} onClick={acts.respond} />
      {open.value && (
        <DecisionDialog
          kind={open.value}
          approval={approval}
          onDecided={onDecided}
          close={() => {
            open.value = undefined;
          }}
        />
      )}
    </div>
  );
}

type Acts = Readonly<Record<'approve' | 'always' | 'reject' | 'edit' | 'respond', () => void>>;

interface RunButtonsProps {
  readonly approval: Approval;
  readonly acts: Acts;
  readonly isBusy: boolean;
}

function RunButtons({ approval: { always }, acts, isBusy }: RunButtonsProps) {
  return (
    <>
      <DecisionButton label="Approve" hint="a" isBusy={isBusy} onClick={acts.approve} class="primary" />
      {always.allows && (
        <DecisionButton
          label="Always"
          hint={`Also allows ${always.allows} from now on`}
          isBusy={isBusy}
          onClick={acts.always}
        />
      )}
    </>
  );
}

interface DecisionButtonProps {
  readonly label: string;
  readonly hint?: string;
  readonly isBusy: boolean;
  readonly class?: string;
  readonly onClick: () => void;
}

function DecisionButton({ label, hint, isBusy, onClick, ...props }: DecisionButtonProps) {
  const why = may('approve') ? hint : 'Your key may not decide: it lacks the scope approve';
  return (
    <button type="button" title={why} disabled={isBusy || !may('approve')} onClick={onClick} {...props}>
      {label}
    </button>
  );
}

/** The keys act on what is shown when they are pressed. */
function DecisionKeys(acts: Acts) {
  const newest = useNewest(acts);
  useShortcut(
    'a',
    'Approve',
    useCallback(() => newest.current.approve(), [newest]),
  );
  useShortcut(
    'r',
    'Reject',
    useCallback(() => newest.current.reject(), [newest]),
  );
  useShortcut(
    'e',
    'Edit the arguments',
    useCallback(() => newest.current.edit(), [newest]),
  );
  return null;
}
