/** Forks the session at a step: it is done anew, in a copy of the session. */
import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import { hrefOf, navigate } from '../../app/router.ts';
import { report } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import type { Turn } from './timeline.ts';

export function ForkButton({ turn, step }: { readonly turn: Turn; readonly step: number }) {
  const isBusy = useSignal(false);
  const fork = async (): Promise<void> => {
    isBusy.value = true;
    const answer = await request('POST /v1/sessions/{key}/forks', {
      params: { key: turn.session_key },
      body: { turn_id: turn.id, step },
    });
    isBusy.value = false;
    report(answer);
    const turnId = answer.ok ? answer.data.turn_id : null;
    if (turnId !== null) navigate(hrefOf('runs', turnId));
  };
  return (
    <Button
      scope="run"
      disabled={isBusy.value}
      title={`Do step ${step} and what follows anew, in a copy of the session and its files`}
      onClick={() => void fork()}
    >
      Fork here
    </Button>
  );
}
