/** One thing that is set up: its form, what is special about it, and all that is known of it. */
import { useSignal } from '@preact/signals';
import { addressOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { useRequestAt } from '../../api/use-request.ts';
import { currentSearch, hrefOf, navigate } from '../../app/router.ts';
import { notify } from '../../app/toasts.tsx';
import { CopyAsAt } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import type { Values } from '../../components/field-schema.ts';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { RemoveButton } from './act-button.tsx';
import { JsonFields } from './beside.tsx';
import { type Kind, lacks, type Row } from './kind.ts';
import { OperationForm } from './operation-form.tsx';
import { Badge } from './setup-list.tsx';

/** For states; the form keeps what it holds. */
const REFRESH_MS = 5_000;

export function SetupOne({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const { slug, title, path, scopes, key, page, nameOf, Beside, isByAgent } = kind;
  const agent = (isByAgent && currentSearch.value.get('agent')) || undefined;
  const { address } = addressOf(`GET ${path}/{id}`, { params: { id } });
  const { address: ofAgent } = addressOf(`GET ${path}/{id}`, { params: { id }, query: { agent } });
  const { data, problem, reload } = useRequestAt<Row>('GET', ofAgent, undefined, { everyMs: REFRESH_MS });
  const saves = useSignal(0);
  const row = data.value;
  if (!row)
    return problem.value ? (
      <ProblemNotice problem={problem.value} retry={reload} />
    ) : (
      <p class="notice" aria-busy="true" />
    );
  const saved = (answer: Values): void => {
    notify('done', 'Saved');
    const now = String(answer[key]);
    if (now !== id) navigate(hrefOf('setup', slug, now), { replace: true });
    data.value = answer;
    saves.value += 1;
  };
  const beside = (values: Values) => (
    <>
      {Beside && <Beside row={row} values={values} address={address} reload={reload} />}
      <details>
        <summary>All of it</summary>
        <JsonFields values={row} />
      </details>
    </>
  );
  return (
    <>
      <div class="page-head">
        <p class="trail">
          <a href={hrefOf('setup', slug)}>{title}</a> /
        </p>
        <h1>
          <ExactText text={nameOf?.(row) ?? id} />
        </h1>
        <Badge kind={kind} row={row} />
        <CopyAsAt method="GET" address={address} command={[slug, 'show', id]} />
        <RemoveButton kind={kind} id={id} onDone={() => navigate(hrefOf('setup', slug))} />
      </div>
      <div class="setup">
        {page === 'edit' ? (
          <OperationForm
            key={saves.value}
            method="PATCH"
            path={`${path}/{${key}}`}
            address={address}
            start={row}
            button="Save"
            refusal={may(scopes[1]) ? undefined : lacks(scopes[1])}
            onDone={saved}
            beside={beside}
          />
        ) : (
          beside(row)
        )}
      </div>
    </>
  );
}
