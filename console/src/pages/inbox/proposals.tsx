/** Rules that the decisions of the last weeks suggest, which an admin can take. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Operations } from '../../api/operations.ts';
import { problemText } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { notify } from '../../app/toasts.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { ExactText } from '../../components/exact-text.tsx';

type Proposal = Operations['GET /v1/policy/proposals']['answer']['data'][number];

export function Proposals() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = useSignal(false);
  if (!may('admin')) return null;
  const open = (): void => {
    isOpen.value = true;
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" class="quiet" onClick={open}>
        Suggested rules…
      </button>
      <dialog
        ref={dialog}
        class="wide"
        aria-labelledby="proposals-title"
        onClose={() => {
          isOpen.value = false;
        }}
      >
        <h2 id="proposals-title">Rules that your decisions suggest</h2>
        {isOpen.value && <ProposalList />}
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

/** They are worked out for each request, so only when somebody wants to see them. */
function ProposalList() {
  const { problem, data, reload } = useRequest('GET /v1/policy/proposals', {});
  if (problem.value) return <ProblemNotice problem={problem.value} retry={reload} />;
  const rows = data.value?.data;
  if (!rows) return <p aria-busy="true" />;
  if (rows.length === 0) return <p>The decisions of the last 30 days suggest no rule.</p>;
  const take = async ({ id }: Proposal): Promise<void> => {
    const result = await request('POST /v1/policy/proposals/{id}/take', { params: { id }, body: {} });
    if (result.ok) notify('done', 'The rule holds from now on');
    else notify('failed', problemText(result.problem));
    reload();
  };
  return (
    <>
      {rows.map((proposal) => (
        <section key={proposal.id}>
          <pre>
            <ExactText text={JSON.stringify(proposal.adds, null, 2)} />
          </pre>
          <p>
            {proposal.approvals} approved, none rejected · {proposal.agent} · {proposal.place}
          </p>
          {proposal.place === 'settings' ? (
            <p>The rules of these agents are in tempoclaw.yaml: add it there.</p>
          ) : (
            <button type="button" onClick={() => void take(proposal)}>
              Take it
            </button>
          )}
        </section>
      ))}
    </>
  );
}
