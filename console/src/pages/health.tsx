/** What runs, what waits, and what does not come through. */
import { useRequest } from '../api/use-request.ts';
import { CopyAs } from '../components/copy-as.tsx';
import { DataTable } from '../components/data-table.tsx';
import { ExactText } from '../components/exact-text.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { TimeAgo } from '../components/time-ago.tsx';

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
  if (!data.value) return null;
  const { version, postgres, temporal, workers, queues, sweep, disk, database_bytes: database } = data.value;
  const runs = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([type, count]) => `${count} ${type}`)
      .join(', ') || 'nothing';
  return (
    <>
      {workers.length === 0 && (
        <p class="panel bad">
          No worker runs, so no turn goes on. <code>npx tempoclaw status</code> says more.
        </p>
      )}
      <DataTable
        title="Workers"
        head={['worker', 'version', 'runs now', 'seen']}
        rows={workers.map((one) => [
          one.id,
          `${one.version} ${one.build}`,
          runs(one.running),
          <TimeAgo at={one.seen_at} />,
        ])}
      />
      <DataTable
        title="Queues"
        head={['queue', 'kind', 'waiting', 'for']}
        rows={queues.map((one) => [one.queue, one.kind, one.waiting, `${one.oldest_seconds} s`])}
      />
      <DataTable
        title="Sweep"
        head={['sweep', 'last ran', 'found', 'failed']}
        rows={sweep.map((one) => [one.part, <TimeAgo at={one.ended_at} />, one.found, one.failed])}
      />
      <DataTable
        title="Services"
        head={['service', 'state']}
        rows={[
          ['API', version],
          ['Postgres', `${postgres}, ${sizeText(database ?? undefined)}`],
          ['Temporal', temporal],
          ['Disk of the API', `${sizeText(disk?.free_bytes)} of ${sizeText(disk?.total_bytes)} free`],
        ]}
      />
    </>
  );
}

/** Webhooks, mails and channels of the tenant. */
function Deliveries() {
  const webhooks = useRequest('GET /v1/webhooks', {}, { everyMs: 10_000 });
  const channels = useRequest('GET /v1/channels', {}, { everyMs: 10_000 });
  const problem = webhooks.problem.value ?? channels.problem.value;
  if (problem) return <ProblemNotice problem={problem} retry={webhooks.reload} />;
  const all = [
    ...(webhooks.data.value?.data.map((hook) => ({ ...hook, name: hook.url })) ?? []),
    ...(channels.data.value?.data.map((channel) => ({ ...channel, name: channel.key })) ?? []),
  ];
  const failing = all.filter(({ enabled, failures }) => !enabled || failures > 0);
  return failing.length === 0 ? (
    <p class="panel">
      Deliveries: of {all.length} webhooks and channels, none fails.{' '}
      <code>npx tempoclaw webhooks add https://example.com/hook</code> sends events elsewhere.
    </p>
  ) : (
    <DataTable
      title="Failing deliveries"
      head={['delivers to', 'state', 'failures', 'next attempt']}
      rows={failing.map((one) => [
        <ExactText text={one.name} />,
        one.enabled ? one.state : 'off',
        one.failures,
        one.next_attempt_at && new Date(one.next_attempt_at).toLocaleString(),
      ])}
    />
  );
}

function sizeText(bytes: number | undefined): string {
  return bytes === undefined ? '?' : `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
