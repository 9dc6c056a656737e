/** Reverses what the calls of a run have done: shows the plan, then a run of its own reverses them. */
import { useSignal } from '@preact/signals';
import type { AnswerOf } from '@tempoclaw/client';
import { request } from '../../api/request.ts';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf, navigate } from '../../app/router.ts';
import { report } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { NotYet } from '../../components/notices.tsx';
import { isOpen, type Turn } from './timeline.ts';

type Plan = AnswerOf<'GET /v1/turns/{id}/undo'>;
type Call = Plan['calls'][number];

/** Characters of arguments that a line shows. */
const SHOWN = 160;

export function UndoButton({ turn }: { readonly turn: Turn }) {
  const isShown = useSignal(false);
  if (isOpen(turn)) return null;
  return (
    <>
      <Button class="quiet" title="See what can be reversed" onClick={() => (isShown.value = true)}>
        Undo
      </Button>
      {isShown.value && (
        <Dialog title="Undo this run" close={() => (isShown.value = false)}>
          <PlanOf turn={turn} />
        </Dialog>
      )}
    </>
  );
}

function PlanOf({ turn: { id } }: { readonly turn: Turn }) {
  const reading = useRequest('GET /v1/turns/{id}/undo', { params: { id } });
  const isBusy = useSignal(false);
  const plan = reading.data.value;
  if (!plan) return <NotYet reading={reading} />;
  const reverse = async (): Promise<void> => {
    isBusy.value = true;
    const answer = await request('POST /v1/turns/{id}/undo', {
      params: { id },
      query: { wait: 0 },
      body: {},
    });
    isBusy.value = false;
    report(answer);
    const undo = answer.ok ? answer.data.undo_turn_id : null;
    if (undo !== null) navigate(hrefOf('runs', undo));
  };
  const count = plan.calls.filter(({ action }) => action === 'reverse').length;
  return (
    <>
      {plan.calls.length === 0 && <p class="notice">This run made no calls.</p>}
      <ul aria-label="What happens to each call">
        {plan.calls.map((call) => (
          <CallLine key={call.call_id} call={call} />
        ))}
      </ul>
      <form method="dialog">
        <Button scope="run" disabled={count === 0 || isBusy.value} onClick={() => void reverse()}>
          Reverse {count} {count === 1 ? 'call' : 'calls'}
        </Button>{' '}
        <button type="submit">Close</button>
      </form>
    </>
  );
}

const WORDS: Readonly<Record<Call['action'], string>> = {
  reverse: 'can be reversed',
  running: 'is being reversed',
  reversed: 'is reversed',
  nothing: 'changed nothing',
  irreversible: 'cannot be reversed',
  unknown: 'may have taken effect: look yourself',
};

function CallLine({ call: { tool, args, action, reason, by } }: { readonly call: Call }) {
  return (
    <li>
      <ExactText text={`${tool} ${JSON.stringify(args)}`.slice(0, SHOWN)} />
      <br />
      <small>
        {WORDS[action]}
        {by && (
          <>
            {' '}
            by <ExactText text={by.tool} />
          </>
        )}
        {reason !== null && (
          <>
            : <ExactText text={reason} />
          </>
        )}
      </small>
    </li>
  );
}
