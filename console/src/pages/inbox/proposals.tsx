/** Rules that the decisions of the last weeks suggest, which an admin can take. */
import { useSignal } from '@preact/signals';
import type { Operations } from '@tempoclaw/client';
import { request } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { report } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Pre } from '../../components/exact-text.tsx';
import { NotYet } from '../../components/notices.tsx';

type Proposal = Operations['GET /v1/policy/proposals']['answer']['data'][number];

export function Proposals() {
  const isOpen = useSignal(false);
  if (!may('admin')) return null;
  return (
    <>
      <Button class="quiet" onClick={() => (isOpen.value = true)}>
        Suggested rules…
      </Button>
      {isOpen.value && (
        <Dialog title="Rules that your decisions suggest" close={() => (isOpen.value = false)} isRead>
          <ProposalList />
        </Dialog>
      )}
    </>
  );
}

/** They are worked out for each request, so only when somebody wants to see them. */
function ProposalList() {
  const reading = useRequest('GET /v1/policy/proposals', {});
  const rows = reading.data.value?.data;
  if (reading.problem.value || !rows) return <NotYet reading={reading} />;
  if (rows.length === 0) return <p>The decisions of the last 30 days suggest no rule.</p>;
  const take = async ({ id }: Proposal): Promise<void> => {
    const result = await request('POST /v1/policy/proposals/{id}/take', { params: { id }, body: {} });
    report(result, 'The rule holds from now on');
    reading.reload();
  };
  return (
    <>
      {rows.map((proposal) => (
        <section key={proposal.id}>
          <Pre value={proposal.adds} />
          <p>
            {proposal.approvals} approved, none rejected · {proposal.agent} · {proposal.place}
          </p>
          {proposal.place === 'settings' ? (
            <p>The rules of these agents are in tempoclaw.yaml: add it there.</p>
          ) : (
            <Button onClick={() => void take(proposal)}>Take it</Button>
          )}
        </section>
      ))}
    </>
  );
}
