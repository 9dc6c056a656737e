/** The buttons of an approval that asks its user for a login, which decides it by itself. */
import { useSignal } from '@preact/signals';
import { addressOf } from '../../api/request.ts';
import { Button } from '../../components/button.tsx';
import { LoginButton } from '../setup/login-button.tsx';
import type { Approval } from './approval-list.ts';
import { DecisionDialog } from './decision-dialog.tsx';

interface LoginDecisionsProps {
  readonly approval: Approval;
  /** The MCP server; undefined for a program, whose credentials are typed at a terminal. */
  readonly server: string | undefined;
  readonly onDecided?: (() => void) | undefined;
}

export function LoginDecisions({ approval, server, onDecided }: LoginDecisionsProps) {
  const isRejecting = useSignal(false);
  const at = server && addressOf('GET /v1/mcp/servers/{name}', { params: { name: server } });
  return (
    <div class="buttons" role="group" aria-label={`Decision about ${approval.summary}`}>
      {at && <LoginButton label="Log in" address={at.address} />}
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
