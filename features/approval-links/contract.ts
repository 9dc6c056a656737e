/** What a person reads beside the call before they decide it: on a page, in a mail or in a chat. */
import { type AlwaysOffer, alwaysWords } from '#domain/approval/approval.ts';
import type { RecordedTerms } from '#domain/approval/approval-terms.ts';
import { type BoundFile, boundFilesWords } from '#domain/approval/bound-file.ts';
import type { McpForm } from '#domain/form.ts';
import { runsAtWords } from '#domain/sandbox.ts';

/** The parts of an approval's row that people see. Its texts were scrubbed when it was written. */
export interface ApprovalBasis {
  readonly agent_key: string;
  readonly session_key: string;
  readonly user_id: string | null;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly summary: string;
  readonly reason: string | null;
  readonly risk: string | null;
  readonly terms: RecordedTerms;
  readonly always: AlwaysOffer;
  readonly files: readonly BoundFile[];
  readonly form: McpForm | null;
  readonly agreed: readonly string[];
  readonly expires_at: Date;
}

/** The facts that the row has, each with its name. */
export function approvalFacts(row: ApprovalBasis, now: Date): (readonly [name: string, value: string])[] {
  const quorum = row.terms.quorum ?? 1;
  const agreed = row.agreed.length > 0 ? `: ${row.agreed.join(', ')}` : '';
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['agent', row.agent_key],
    ['session', row.session_key],
    ['asked for', row.user_id],
    ['because', row.reason],
    ['risk', row.risk],
    ['runs files', boundFilesWords(row.files)],
    ['runs', row.terms.runs && runsAtWords(row.terms.runs)],
    ['“always”', alwaysWords(row.always)],
    ['agreed', quorum > 1 ? `${row.agreed.length} of ${quorum}${agreed}` : null],
    ['until', `${timeWords(row.expires_at)} (in ${minutes(row.expires_at, now)})`],
  ];
  return facts.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, value]]));
}

export function timeWords(at: Date): string {
  return `${at.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
}

function minutes(at: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((at.getTime() - now.getTime()) / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
