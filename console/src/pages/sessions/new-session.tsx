/** Begins a session with an agent. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf, navigate } from '../../app/router.ts';
import { bound } from '../../components/bound.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { Composer } from './composer.tsx';

export default function NewSession() {
  const agents = useRequest('GET /v1/agents', { query: { limit: 200 } });
  const agent = useSignal('main');
  const key = useMemo(newKey, []);
  const head = (
    <label class="check">
      Agent
      <select {...bound(agent)}>
        {(agents.data.value?.data ?? [{ key: 'main' }]).map(({ key: name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
  return (
    <PageFrame title="New session" trail={[['Sessions', 'sessions']]} head={head} readings={[agents]}>
      <Composer session={key} agent={agent.value} onSent={() => navigate(hrefOf('sessions', key))} />
    </PageFrame>
  );
}

/** The day, so that people find it, and enough random letters that no two are the same. */
function newKey(): string {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => (byte % 36).toString(36));
  return `web-${new Date().toISOString().slice(0, 10)}-${random.join('')}`;
}
