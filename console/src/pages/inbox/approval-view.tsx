/** One approval: the whole call, why it was asked about, and the decision. */
import { useSignal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import { may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { useShortcut } from '../../app/shortcuts.ts';
import { useNewest } from '../../app/use-newest.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ApprovalFacts } from './approval-facts.tsx';
import type { Approval } from './approval-list.ts';
import { CommandText } from './command-text.tsx';
import { decide, type Decision } from './decide.ts';
import { DecisionDialog, type DialogKind } from './decision-dialog.tsx';

export function ApprovalView({ approval }: { readonly approval: Approval }) {
  const { id, tool, args, agent, session_key: session, status } = approval;
  const detail = useRequest('GET /v1/approvals/{id}', { params: { id } });
  const { reload } = detail;
  useEffect(reload, [status, approval.tally, approval.digest, reload]);
  const explanation = useRequest('POST /v1/explain/{kind}', {
    params: { kind: 'tool' },
    body: { tool, args, agent, context: { session } },
  });
  return (
    <article class="approval" aria-label={approval.summary}>
      <h2>
        <ExactText text={approval.summary} />
      </h2>
      <Call approval={approval} />
      {status === 'pending' ? <Decisions approval={approval} /> : <Outcome approval={approval} />}
      <ApprovalFacts approval={approval} detail={detail.data.value} explanation={explanation.data.value} />
      <p class="buttons">
        <CopyAs
          name="POST /v1/approvals/{id}/decision"
          parts={{ params: { id }, body: { decision: 'approve' } }}
          command={['approvals', 'approve', id]}
        />
        {approval.links.temporal && (
          <a href={approval.links.temporal} target="_blank" rel="noreferrer">
            Temporal
          </a>
        )}
      </p>
    </article>
  );
}

function Call({ approval: { tool, args, agent, form } }: { readonly approval: Approval }) {
  const { command, ...others } = args;
  if (typeof command !== 'string') return <Arguments tool={tool} args={args} message={form?.message} />;
  return (
    <>
      <Command command={command} agent={agent} />
      {Object.keys(others).length > 0 && <Arguments tool={tool} args={others} />}
    </>
  );
}

function Command({ command, agent }: { readonly command: string; readonly agent: string }) {
  const explained = useRequest('POST /v1/explain/{kind}', {
    params: { kind: 'shell' },
    body: { command, agent },
  });
  return <CommandText command={command} commands={explained.data.value?.command_words} />;
}

interface ArgumentsProps {
  readonly tool: string;
  readonly args: Approval['args'];
  readonly message?: string | undefined;
}

function Arguments({ tool, args, message }: ArgumentsProps) {
  return (
    <>
      {message && (
        <p class="plain-text">
          <ExactText text={message} />
        </p>
      )}
      <dl class="arguments" aria-label={`Arguments of ${tool}`}>
        {Object.entries(args).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <pre>
                <ExactText text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
              </pre>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Outcome({ approval: { status, decided_by: by } }: { readonly approval: Approval }) {
  return (
    <p class={`outcome ${status === 'approved' ? 'good' : 'bad'}`} role="status">
      {status}
      {by && ` by ${by}`}
    </p>
  );
}

function Decisions({ approval }: { readonly approval: Approval }) {
  const open = useSignal<DialogKind | undefined>(undefined);
  const isBusy = useSignal(false);
  const isOpen = may('approve');
  const isEditable = isOpen && !approval.is_masked;
  const send = async (decision: Decision): Promise<void> => {
    if (!isOpen || isBusy.value) return;
    isBusy.value = true;
    await decide(approval, decision);
    isBusy.value = false;
  };
  const show = (kind: DialogKind): void => {
    if (kind === 'edit' ? isEditable : isOpen) open.value = kind;
  };
  useDecisionKeys({
    approve: () => void send({ decision: 'approve' }),
    reject: () => show('reject'),
    edit: () => show('edit'),
  });
  const why = isOpen ? undefined : 'Your key may not decide: it lacks the scope approve';
  const isDisabled = isBusy.value || !isOpen;
  return (
    <div class="buttons" role="group" aria-label="Decision">
      <button
        type="button"
        class="primary"
        title={why ?? 'a'}
        disabled={isDisabled}
        onClick={() => void send({ decision: 'approve' })}
      >
        Approve
      </button>
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
      <button type="button" title={why ?? 'r'} disabled={isDisabled} onClick={() => show('reject')}>
        Reject…
      </button>
      <button
        type="button"
        title={why ?? (approval.is_masked ? 'The arguments hide a secret' : 'e')}
        disabled={isBusy.value || !isEditable}
        onClick={() => show('edit')}
      >
        Edit…
      </button>
      <button type="button" title={why} disabled={isDisabled} onClick={() => show('respond')}>
        Answer…
      </button>
      {open.value && (
        <DecisionDialog
          kind={open.value}
          approval={approval}
          close={() => {
            open.value = undefined;
          }}
        />
      )}
    </div>
  );
}

/** The keys act on what is shown when they are pressed. */
function useDecisionKeys(acts: Readonly<Record<'approve' | 'reject' | 'edit', () => void>>): void {
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
}
