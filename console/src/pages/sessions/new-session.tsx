/** Begins a session with an agent. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf, navigate } from '../../app/router.ts';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { Composer } from './composer.tsx';

export default function NewSession() {
  const agents = useRequest('GET /v1/agents', { query: { limit: 200 } });
  const agent = useSignal('main');
  const key = useMemo(newKey, []);
  return (
    <section class="page">
      <div class="page-head">
        <p class="trail">
          <a href={hrefOf('sessions')}>Sessions</a> /
        </p>
        <h1>New session</h1>
        <label class="check">
          Agent
          <select
            value={agent.value}
            onChange={({ currentTarget }) => {
              agent.value = currentTarget.value;
            }}
          >
            {(agents.data.value?.data ?? [{ key: 'main' }]).map(({ key: name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      {agents.problem.value && <ProblemNotice problem={agents.problem.value} retry={agents.reload} />}
      <Composer session={key} agent={agent.value} onSent={() => navigate(hrefOf('sessions', key))} />
    </section>
  );
}

/** The day, so that people find it, and enough random letters that no two are the same. */
function newKey(): string {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => (byte % 36).toString(36));
  return `web-${new Date().toISOString().slice(0, 10)}-${random.join('')}`;
}
