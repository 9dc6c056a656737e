/** What runs, what waits, and what does not come through. */
import { useEffect } from 'preact/hooks';
import { may } from '../api/session.ts';
import { AFTER_SESSIONS, type Reading, useRequest } from '../api/use-request.ts';
import { CopyAs } from '../components/copy-as.tsx';
import { DataTable } from '../components/data-table.tsx';
import { ExactText } from '../components/exact-text.tsx';
import { Trouble } from '../components/notices.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { TimeAgo, useNow } from '../components/time-ago.tsx';

export default function Health() {
  const copy = <CopyAs name="GET /v1/gateway/health" parts={{}} command={['gateway', 'health']} />;
  return (
    <PageFrame title="Health" scrolls head={copy}>
      <Installation />
      <Deliveries />
      {may('admin') && <Anchors />}
    </PageFrame>
  );
}

function Installation() {
  const reading = useRequest('GET /v1/gateway/health', {}, AFTER_SESSIONS);
  // A worker that dies has no event.
  const tick = useNow(5_000);
  useEffect(() => {
    if (!document.hidden) reading.reload();
  }, [tick, reading.reload]);
  if (reading.problem.value) return <Trouble reading={reading} />;
  if (!reading.data.value) return null;
  const {
    version,
    postgres,
    temporal,
    workers,
    queues,
    sweep,
    disk,
    database_bytes: size,
  } = reading.data.value;
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
        rows={workers.map(({ id, version: its, build, running, seen_at: at }) => [
          id,
          `${its} ${build}`,
          countsText(running),
          <TimeAgo at={at} />,
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
          ['Postgres', `${postgres}, ${sizeText(size ?? undefined)}`],
          ['Temporal', temporal],
          ['Disk of the API', `${sizeText(disk?.free_bytes)} of ${sizeText(disk?.total_bytes)} free`],
        ]}
      />
    </>
  );
}

/** Whether the installation is built without the feature that serves it. */
function isAbsent({ problem }: Reading<unknown>): boolean {
  return problem.value?.status === 404;
}

/** Webhooks, mails and channels of the tenant. */
function Deliveries() {
  const webhooks = useRequest('GET /v1/webhooks', {}, { everyMs: 10_000 });
  const channels = useRequest('GET /v1/channels', {}, { everyMs: 10_000 });
  const present = [webhooks, channels].filter((reading) => !isAbsent(reading));
  const failed = present.find(({ problem }) => problem.value);
  if (failed) return <Trouble reading={failed} />;
  if (present.length === 0) return null;
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
      rows={failing.map(({ name, enabled, state, failures, next_attempt_at: at }) => [
        <ExactText text={name} />,
        enabled ? state : 'off',
        failures,
        at && new Date(at).toLocaleString(),
      ])}
    />
  );
}

/** Where the heads of the tenant's chain of evidence are kept. */
function Anchors() {
  const reading = useRequest('GET /v1/evidence', {}, { everyMs: 10_000 });
  if (isAbsent(reading)) return null;
  if (reading.problem.value) return <Trouble reading={reading} />;
  if (!reading.data.value) return null;
  const { anchors, entries } = reading.data.value;
  if (anchors.length === 0) return null;
  return (
    <DataTable
      title="Anchors of the evidence"
      head={['anchor', 'state', 'entries', 'last success']}
      rows={anchors.map(({ name, failures, problem, seq, anchored_at: at }) => [
        name,
        problem === null ? 'works' : <ExactText text={`${failures} failures: ${problem}`} />,
        `${seq} of ${entries}`,
        at ? <TimeAgo at={at} /> : 'never',
      ])}
    />
  );
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).map(([type, count]) => `${count} ${type}`);
  return words.join(', ') || 'nothing';
}

function sizeText(bytes: number | undefined): string {
  return bytes === undefined ? '?' : `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
