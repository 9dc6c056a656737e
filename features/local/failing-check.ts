/** What `doctor` says of what fails outside: the figures at /metrics of the running API that are alarms when above 0. */
import { type Finding, finding } from './finding.ts';
import { runningClient } from './running-client.ts';

const ALARM = /^(tempoclaw_\w+_failing)\{\w+="([^"]*)"\} (\d+)$/;
const HELP = /^# HELP (\S+) (.*)$/;
const REMEDY = 'Their lists say why: `npx tempoclaw webhooks list`, `npx tempoclaw evidence show`.';

export function failingCheck(stateDir: string) {
  return {
    check: 'Failing',
    async look(): Promise<string | readonly Finding[]> {
      // The check of the API says why it does not answer.
      const metrics = await runningClient(stateDir)
        .raw('GET', '/metrics', {})
        .then((answer) => answer.text())
        .catch(() => undefined);
      if (metrics === undefined) return [];
      const alarms = alarmsIn(metrics);
      return alarms.length === 0
        ? 'nothing: deliveries and anchors'
        : alarms.map((alarm) => finding('Failing', 'warn', alarm, REMEDY));
    },
  };
}

/** Lines such as `Endpoints whose newest delivery failed, or that were disabled for it: 2 (webhook)`. */
export function alarmsIn(metrics: string): string[] {
  const lines = metrics.split('\n');
  const help = new Map(lines.map((line) => HELP.exec(line) ?? []).map(([, name, text]) => [name, text]));
  return lines.flatMap((line) => {
    const [, name = '', label, count] = ALARM.exec(line) ?? [];
    return Number(count) > 0 ? [`${help.get(name) ?? name}: ${count} (${label})`] : [];
  });
}
