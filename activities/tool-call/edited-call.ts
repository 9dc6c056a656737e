/**
 * The record of a call that a person has edited: it is bound to the files that it runs now, because the edited call was
 * not shown before.
 */
import { storableJson } from '#domain/text/storable-text.ts';
import type { CallDeps } from './call-deps.ts';
import { callDigest } from './call-digest.ts';
import type { Catalog, ParsedCall } from '#policy/catalog.ts';
import { callSummary } from './call-summary.ts';
import { sealedCall } from './plan-calls.ts';
import type { ApprovalBasis } from '#store/approvals/approval-ledger.ts';
import type { SettleRecord } from '#store/approvals/settle-record.ts';

export async function editedCall(
  deps: Pick<CallDeps, 'scrubber' | 'sealer' | 'boundFiles'> & { readonly catalog: Catalog },
  tenant: string,
  basis: ApprovalBasis,
  read: ParsedCall,
): Promise<NonNullable<SettleRecord['edit']>> {
  const { tool, args } = read;
  const shown = storableJson(deps.scrubber.args(args));
  const files = await deps.boundFiles({ ...basis, tenant, tool, args, scrubber: deps.scrubber });
  const digestOf = (edited: typeof args): string =>
    callDigest(basis.tool, edited, tool.definition, basis.sandbox, files);
  const digest = digestOf(args);
  const sealed =
    digestOf(shown) === digest
      ? null
      : deps.sealer.seal(JSON.stringify(args), sealedCall(tenant, basis.call_id));
  return { args: shown, digest, summary: callSummary(deps.scrubber, deps.catalog, read), sealed, files };
}
