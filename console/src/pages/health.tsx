/** What runs, what waits, and what does not come through. */
import type { ComponentChildren } from 'preact';
import { useRequest } from '../api/use-request.ts';
import { CopyAs } from '../components/copy-as.tsx';
import { ExactText } from '../components/exact-text.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { TimeAgo } from '../components/time-ago.tsx';

const GIB = 2 ** 30;

export default function Health() {
  return (
    <section class="page scrolls">
      <div class="page-head">
        <h1>Health</h1>
        <CopyAs name="GET /v1/gateway/health" parts={{}} command={['gateway', 'health']} />
      </div>
      <Installation />
      <Deliveries />
    </section>
  );
}

function Installation() {
  const { data, problem, reload } = useRequest('GET /v1/gateway/health', {}, { everyMs: 2_000 });
  if (problem.value) return <ProblemNotice problem={problem.value} retry={reload} />;
  const health = data.value;
  if (!health) return null;
  const { workers, queues, sweep, disk, database_bytes: database } = health;
  return (
    <>
      <Table title="Workers" head={['worker', 'version', 'runs now', 'seen']}>
        {workers.map(({ id, version, build, running, seen_at: at }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td title={build}>{version}</td>
            <td>
              {Object.entries(running)
                .map(([type, count]) => `${count} ${type}`)
                .join(', ') || 'nothing'}
            </td>
            <td>
              <TimeAgo at={at} />
            </td>
          </tr>
        ))}
      </Table>
      {workers.length === 0 && (
        <p class="panel bad">
          No worker runs, so no turn goes on. <code>npx tempoclaw status</code> says more.
        </p>
      )}
      <Table title="Queues" head={['queue', 'waiting', 'for']}>
        {queues.map(({ queue, kind, waiting, oldest_seconds: seconds }) => (
          <tr key={kind}>
            <th scope="row">
              {queue} ({kind})
            </th>
            <td>{waiting}</td>
            <td>{seconds} s</td>
          </tr>
        ))}
      </Table>
      <Table title="Sweep" head={['part', 'last ran', 'found', 'failed']}>
        {sweep.map(({ part, ended_at: at, found, failed }) => (
          <tr key={part}>
            <th scope="row">{part}</th>
            <td>
              <TimeAgo at={at} />
            </td>
            <td>{found}</td>
            <td class={failed > 0 ? 'bad' : ''}>{failed}</td>
          </tr>
        ))}
      </Table>
      <section class="panel">
        <h2>Services</h2>
        <dl>
          {(['postgres', 'temporal'] as const).map((name) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class={health[name] === 'ok' ? 'good' : 'bad'}>{health[name]}</dd>
            </div>
          ))}
          <dt>Disk</dt>
          <dd>{disk ? `${sizeText(disk.free_bytes)} of ${sizeText(disk.total_bytes)} free` : '–'}</dd>
          <dt>Database</dt>
          <dd>{database === null ? '–' : sizeText(database)}</dd>
          <dt>API</dt>
          <dd>{health.version}</dd>
        </dl>
      </section>
    </>
  );
}

/** Webhooks, mails and channels of the tenant that do not come through. */
function Deliveries() {
  const webhooks = useRequest('GET /v1/webhooks', {}, { everyMs: 10_000 });
  const channels = useRequest('GET /v1/channels', {}, { everyMs: 10_000 });
  const problem = webhooks.problem.value ?? channels.problem.value;
  if (problem) return <ProblemNotice problem={problem} retry={webhooks.reload} />;
  const all = [
    ...(webhooks.data.value?.data.map((hook) => ({ ...hook, name: hook.url })) ?? []),
    ...(channels.data.value?.data.map((channel) => ({ ...channel, name: `channel ${channel.key}` })) ?? []),
  ];
  const failing = all.filter(({ enabled, failures }) => !enabled || failures > 0);
  return (
    <>
      <Table title="Failing deliveries" head={['to', 'state', 'failures', 'next attempt']}>
        {failing.map(({ name, enabled, state, failures, next_attempt_at: next }) => (
          <tr key={name}>
            <th scope="row">
              <ExactText text={name} />
            </th>
            <td>{enabled ? state : 'off'}</td>
            <td>{failures}</td>
            <td>{next ? new Date(next).toLocaleString() : '–'}</td>
          </tr>
        ))}
      </Table>
      {failing.length === 0 && (
        <p class="panel">
          None of {all.length}. <code>npx tempoclaw webhooks add https://example.com/hook</code> sends events
          elsewhere.
        </p>
      )}
    </>
  );
}

interface TableProps {
  readonly title: string;
  readonly head: readonly string[];
  readonly children: readonly ComponentChildren[];
}

function Table({ title, head, children }: TableProps) {
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {children.length > 0 && (
        <div class="scroll-x" tabIndex={0} role="group" aria-label={`All ${title.toLowerCase()}`}>
          <table>
            <thead>
              <tr>
                {head.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function sizeText(bytes: number): string {
  return `${(bytes / GIB).toFixed(2)} GiB`;
}
