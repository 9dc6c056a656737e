/** How an approval is decided at a terminal, and the words of it that commands share. */
import type { z } from 'zod';
import type { decisionSchema } from '#domain/schema/approval.ts';
import type { Client } from '../client.ts';
import { pathOf } from '../command-context.ts';
import { oneLine } from '../text.ts';
import type { Approval, DecisionReceipt } from '../wire.ts';

/** Body of `POST /v1/approvals/{id}/decision`. */
export type DecisionBody = z.input<typeof decisionSchema>;

/** Says what “always” would store, or why it is not offered. */
export function alwaysLine({ always }: Approval): string {
  if (always?.allows == null) return `not offered (${always?.refused ?? 'asked about by an older version'})`;
  const { allows, program, file } = always;
  return file === null ? allows : `${allows} (${program} is the file ${file})`;
}

export function decide(client: Client, approvalId: string, body: DecisionBody): Promise<DecisionReceipt> {
  return client.post<DecisionReceipt>(pathOf('approvals', approvalId, 'decision'), body);
}

/** Says `approved by ann`, or how many have agreed so far. */
export function receiptWords(receipt: DecisionReceipt): string {
  const by = oneLine(receipt.decided_by, 80);
  if (receipt.status !== 'pending')
    return `${receipt.status} by ${by}${receipt.already ? ' (it was before)' : ''}`;
  return `pending, ${receipt.tally ?? ''} agreed${receipt.already ? ' (you had before)' : ''}`;
}

/** The commands that decide it, for places where nobody can be asked. */
export function decideCommands(approvalId: string): string {
  return `npx tempoclaw approvals approve ${approvalId}   (or: reject ${approvalId} --reason "…")`;
}
