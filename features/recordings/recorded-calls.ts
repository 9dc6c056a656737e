/** Calls as they are now beside those of a recording: how they differ, and the results that they get. */
import { callDigest, canonical } from '#activities/tool-call/call-digest.ts';
import { cutText } from '#domain/text/cut-text.ts';
import type { NewCall } from '#store/turns/answer-record.ts';
import { answeredCall } from './answered-call.ts';
import type { Difference, RecordedCall } from './schema.ts';

type Found = Pick<Difference, 'part' | 'message'>;

export function callDifference(now: NewCall, before: RecordedCall): Found | undefined {
  const name = `call ${now.index + 1} (${before.tool})`;
  if (now.tool !== before.tool)
    return { part: 'call', message: `${name}: ${before.called_as} is ${now.tool} now` };
  if (canonical(now.args) !== canonical(before.args))
    return {
      part: 'call',
      message: `${name}: its arguments were ${shown(before.args)} and are ${shown(now.args)}`,
    };
  if (before.hooked || now.verdict === before.verdict) return undefined;
  const why = now.reason === undefined ? '' : `: ${now.reason}`;
  const code = now.code === undefined ? '' : ` (${now.code})`;
  return {
    part: 'policy',
    message: `${name}: the rules said ${before.verdict} and say ${now.verdict}${code}${why}`,
  };
}

function shown(args: Readonly<Record<string, unknown>>): string {
  return cutText(JSON.stringify(args), 300, 'the recording').text;
}

/** What ran, was denied or failed did so in the recording. What the rules refuse now is refused. */
export function settledCall(now: NewCall, before: RecordedCall): NewCall {
  if (now.state === 'done' && !before.hooked) return now;
  const { ok, code, result, edited } = before;
  return answeredCall(edited ? edit(now, edited) : now, { ok, code, text: result, isRun: hasRun(before) });
}

/** Neither rules nor people had refused it. */
export function hasRun({ approval, verdict }: RecordedCall): boolean {
  return approval === undefined ? verdict !== 'deny' : approval.status === 'approved';
}

function edit(call: NewCall, args: Readonly<Record<string, unknown>>): NewCall {
  return { ...call, args, digest: callDigest(call.tool, args, call.custom_tool) };
}
