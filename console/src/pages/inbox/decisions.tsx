/** The buttons that decide an approval. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { may } from '../../api/session.ts';
import { useShortcut } from '../../app/shortcuts.ts';
import { Button } from '../../components/button.tsx';
import type { Approval } from './approval-list.ts';
import { type Decision, decide } from './decide.ts';
import { DecisionDialog, type DialogKind } from './decision-dialog.tsx';
import { LoginDecisions } from './login-decisions.tsx';

interface DecisionsProps {
  readonly approval: Approval;
  /** Whether a, r and e decide it: of the approvals of a page, of one only. */
  readonly hasKeys?: boolean;
  /** Called when a decision of this person was taken. */
  readonly onDecided?: () => void;
}

export function Decisions(props: DecisionsProps) {
  const { approval, onDecided } = props;
  const { form } = approval;
  if (form?.login) {
    const server = form.login === 'mcp' ? form.server : undefined;
    return <LoginDecisions approval={approval} server={server} onDecided={onDecided} />;
  }
  return <CallDecisions {...props} />;
}

function CallDecisions({ approval, hasKeys = false, onDecided }: DecisionsProps) {
  const { summary, terms, is_masked: isMasked, always } = approval;
  const open = useSignal<DialogKind | undefined>(undefined);
  const isBusy = useSignal(false);
  const isOpen = may('approve');
  // Its sender runs it, so that it can only be answered or rejected.
  const mayRun = terms.client_tool === undefined;
  const isEditable = isOpen && mayRun && !isMasked;
  const send = async (decision: Decision): Promise<void> => {
    if (!isOpen || isBusy.value) return;
    isBusy.value = true;
    const isTaken = await decide(approval, decision);
    isBusy.value = false;
    if (isTaken) onDecided?.();
  };
  const show = (kind: DialogKind) => (): void => {
    if (kind === 'edit' ? isEditable : isOpen) open.value = kind;
  };
  const approve = mayRun ? (): void => void send({ decision: 'approve' }) : show('respond');
  const button = (label: ComponentChildren, run: () => void, title?: string, isOff = false, kind = '') => (
    <Button scope="approve" class={kind} title={title} disabled={isBusy.value || isOff} onClick={run}>
      {label}
    </Button>
  );
  const editHint = isMasked ? 'The arguments hide a secret' : 'e';
  return (
    <div class="buttons" role="group" aria-label={`Decision about ${summary}`}>
      {hasKeys && <DecisionKeys approve={approve} reject={show('reject')} edit={show('edit')} />}
      {mayRun && button('Approve', approve, 'a', false, 'primary')}
      {mayRun &&
        always.allows &&
        button(
          'Always',
          () => void send({ decision: 'approve_always' }),
          `Also allows ${always.allows} from now on`,
        )}
      {button('Reject…', show('reject'), 'r')}
      {mayRun && button('Edit…', show('edit'), editHint, !isEditable)}
      {button('Answer…', show('respond'))}
      {open.value && (
        <DecisionDialog
          kind={open.value}
          approval={approval}
          onDecided={onDecided}
          close={() => (open.value = undefined)}
        />
      )}
    </div>
  );
}

function DecisionKeys({
  approve,
  reject,
  edit,
}: Readonly<Record<'approve' | 'reject' | 'edit', () => void>>) {
  useShortcut('a', 'Approve', approve);
  useShortcut('r', 'Reject', reject);
  useShortcut('e', 'Edit the arguments', edit);
  return null;
}
