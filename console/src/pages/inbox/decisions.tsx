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
  const acts = {
    approve: () => (mayRun ? void send({ decision: 'approve' }) : show('respond')),
    reject: () => show('reject'),
    edit: () => show('edit'),
  };
  const why = isOpen ? undefined : 'Your key may not decide: it lacks the scope approve';
  const isDisabled = isBusy.value || !isOpen;
  return (
    <div class="buttons" role="group" aria-label={`Decision about ${approval.summary}`}>
      {hasKeys && <DecisionKeys {...acts} />}
      {mayRun && (
        <button type="button" class="primary" title={why ?? 'a'} disabled={isDisabled} onClick={acts.approve}>
          Approve
        </button>
      )}
      {approval.always.allows && (
        <button
          type="button"
          title={why ?? `Also allows ${approval.always.allows} from now on`}
          disabled={isDisabled}
          onClick={() => void send({ decision: 'approve_always' })}
        >
          Always
        </button>
      )}
      <button type="button" title={why ?? 'r'} disabled={isDisabled} onClick={acts.reject}>
        Reject…
      </button>
      {mayRun && (
        <button
          type="button"
          title={why ?? (approval.is_masked ? 'The arguments hide a secret' : 'e')}
          disabled={isBusy.value || !isEditable}
          onClick={acts.edit}
        >
          Edit…
        </button>
      )}
      <button type="button" title={why} disabled={isDisabled} onClick={() => show('respond')}>
        Answer…
      </button>
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

/** The keys act on what is shown when they are pressed. */
function DecisionKeys(acts: Readonly<Record<'approve' | 'reject' | 'edit', () => void>>) {
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
