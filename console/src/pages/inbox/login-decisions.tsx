/** The buttons of an approval that asks its user for a login, which decides it by itself. */
import { useSignal } from '@preact/signals';
import { problemText } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { notify } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import type { Approval } from './approval-list.ts';
import { DecisionDialog } from './decision-dialog.tsx';

interface LoginDecisionsProps {
  readonly approval: Approval;
  readonly server: string;
  readonly onDecided?: (() => void) | undefined;
}

export function LoginDecisions({ approval, server, onDecided }: LoginDecisionsProps) {
  const isRejecting = useSignal(false);
  return (
    <div class="buttons" role="group" aria-label={`Decision about ${approval.summary}`}>
      <LoginButton server={server} />
      <Button scope="approve" onClick={() => (isRejecting.value = true)}>
        Reject…
      </Button>
      {isRejecting.value && (
        <DecisionDialog
          kind="reject"
          approval={approval}
          onDecided={onDecided}
          close={() => (isRejecting.value = false)}
        />
      )}
    </div>
  );
}

/** The button becomes a link to the login, which no browser blocks. */
function LoginButton({ server }: { readonly server: string }) {
  const address = useSignal<string | undefined>(undefined);
  const begin = async (): Promise<void> => {
    const answer = await request('POST /v1/mcp/servers/{name}/oauth/start', {
      params: { name: server },
      body: {},
    });
    if (answer.ok) address.value = answer.data.authorization_url;
    else notify('failed', problemText(answer.problem));
  };
  if (address.value !== undefined)
    return (
      <a class="primary" href={address.value} target="_blank" rel="noreferrer">
        Go to the login of {server}
      </a>
    );
  return (
    <Button scope="run" class="primary" onClick={() => void begin()}>
      Log in
    </Button>
  );
}
