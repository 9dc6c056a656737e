/** A question of the session to a person, which can be decided where it stands. */
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { ExactText } from '../../components/exact-text.tsx';
import { Decisions } from '../inbox/decisions.tsx';
import type { ItemOf } from './feed-items.ts';

export function ApprovalRow({ item: { id, summary, reason, outcome, isGood } }: ItemOf<'approval'>) {
  const isOpen = outcome === undefined;
  return (
    <section class={`feed-approval ${isOpen ? 'asks' : ''}`} aria-label={`Approval of ${summary}`}>
      <p>
        {isOpen ? 'Waits for approval: ' : 'Approval of '}
        <a href={`${hrefOf('inbox')}?id=${encodeURIComponent(id)}`}>
          <ExactText text={summary} />
        </a>
        {reason && ` (${reason})`}
      </p>
      {isOpen ? (
        <OpenDecision id={id} />
      ) : (
        <p class={isGood ? 'good' : 'bad'}>
          <ExactText text={outcome} />
        </p>
      )}
    </section>
  );
}

/** Only the approval itself has what a decision must name. */
function OpenDecision({ id }: { readonly id: string }) {
  const approval = useRequest('GET /v1/approvals/{id}', { params: { id } }).data.value;
  return approval?.status === 'pending' ? <Decisions approval={approval} /> : null;
}
