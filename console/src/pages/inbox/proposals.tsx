/** Rules that the decisions of the last weeks suggest, which an admin can take. */
import { useRef } from 'preact/hooks';
import type { Operations } from '../../api/operations.ts';
import { problemText } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { notify } from '../../app/toasts.tsx';
import { ExactText } from '../../components/exact-text.tsx';

type Proposal = Operations['GET /v1/policy/proposals']['answer']['data'][number];

export function Proposals() {
  return may('admin') ? <ProposalList /> : null;
}

function ProposalList() {
  const proposals = useRequest('GET /v1/policy/proposals', {});
  const dialog = useRef<HTMLDialogElement>(null);
  const rows = proposals.data.value?.data ?? [];
  if (rows.length === 0) return null;
  const take = async ({ id }: Proposal): Promise<void> => {
    const result = await request('POST /v1/policy/proposals/{id}/take', { params: { id }, body: {} });
    if (result.ok) notify('done', 'The rule holds from now on');
    else notify('failed', problemText(result.problem));
    proposals.reload();
  };
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        {rows.length} suggested {rows.length === 1 ? 'rule' : 'rules'}
      </button>
      <dialog ref={dialog} class="wide" aria-labelledby="proposals-title">
        <h2 id="proposals-title">Rules that your decisions suggest</h2>
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
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
