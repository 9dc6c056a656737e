/** One thing that is set up: its form, what is special about it, and all that is known of it. */
import { useSignal } from '@preact/signals';
import { addressOf } from '../../api/request.ts';
import { lacks } from '../../api/session.ts';
import { useRequestAt } from '../../api/use-request.ts';
import { currentSearch, hrefOf, navigate } from '../../app/router.ts';
import { notify } from '../../app/toasts.tsx';
import { CopyAsAt } from '../../components/copy-as.tsx';
import { Badge, JsonFields } from '../../components/fact.tsx';
import type { Values } from '../../components/field-schema.ts';
import { NotYet } from '../../components/notices.tsx';
import { PageHead } from '../../components/page-frame.tsx';
import { RemoveButton } from './act-button.tsx';
import type { Kind, Row } from './kind.ts';
import { OperationForm } from './operation-form.tsx';

/** For states; the form keeps what it holds. */
const REFRESH_MS = 5_000;

export function SetupOne({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const { slug, title, path, scopes, key, page, nameOf, badge, Beside, isByAgent } = kind;
  const agent = (isByAgent && currentSearch.value.get('agent')) || undefined;
  const { address } = addressOf(`GET ${path}/{id}`, { params: { id } });
  const { address: ofAgent } = addressOf(`GET ${path}/{id}`, { params: { id }, query: { agent } });
  const reading = useRequestAt<Row>('GET', ofAgent, undefined, { everyMs: REFRESH_MS });
  const { data, reload } = reading;
  const saves = useSignal(0);
  const row = data.value;
  if (!row) return <NotYet reading={reading} />;
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
  const status = badge?.(row);
  return (
    <>
      <PageHead title={nameOf?.(row) ?? id} trail={[[title, 'setup', slug]]}>
        {status && <Badge status={status} />}
        <CopyAsAt method="GET" address={address} command={[slug, 'show', id]} />
        <RemoveButton kind={kind} id={id} onDone={() => navigate(hrefOf('setup', slug))} />
      </PageHead>
      <div class="setup">
        {page === 'edit' ? (
          <OperationForm
            key={saves.value}
            method="PATCH"
            path={`${path}/{${key}}`}
            address={address}
            start={row}
            button="Save"
            refusal={lacks(scopes[1])}
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
