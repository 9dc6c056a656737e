/** Makes addresses in the Temporal web UI (IN-5). */
import type { ApiSettings } from './deps.ts';

export type TemporalLink = (workflowId: string, runId?: string | null) => string | null;

/** Returns null when no UI is configured. Without a run, the UI shows the newest one. */
export function createTemporalLink(
  settings: Pick<ApiSettings, 'temporalUiUrl' | 'temporalNamespace'>,
  kind: 'workflows' | 'schedules' = 'workflows',
): TemporalLink {
  const base = settings.temporalUiUrl?.replace(/\/+$/, '');
  const namespace = encodeURIComponent(settings.temporalNamespace);
  return (workflowId, runId) => {
    if (base === undefined) return null;
    const workflow = `${base}/namespaces/${namespace}/${kind}/${encodeURIComponent(workflowId)}`;
    return runId ? `${workflow}/${encodeURIComponent(runId)}` : workflow;
  };
}
