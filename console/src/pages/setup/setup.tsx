/** All that is set up: a tab for each kind, with its list or one thing of it. */
import { lacks, type Scope } from '../../api/session.ts';
import { hrefOf, type PageProps } from '../../app/router.ts';
import { KINDS } from './kinds.tsx';
import { PolicyPage } from './policy-page.tsx';
import { SetupList } from './setup-list.tsx';
import { SetupOne } from './setup-one.tsx';

const POLICY = { slug: 'policy', title: 'Policy', scopes: ['read'] as readonly Scope[] };
const TABS = [...KINDS.slice(0, 1), POLICY, ...KINDS.slice(1)];

export default function Setup({ params: { kind: slug = 'agents', id } }: PageProps) {
  return (
    <section class="page">
      <nav class="tabs" aria-label="Set up">
        {TABS.map(({ slug: name, title, scopes: [scope = 'read'] }) => (
          <a
            key={name}
            href={lacks(scope) ? undefined : hrefOf('setup', name)}
            aria-disabled={lacks(scope) !== undefined}
            title={lacks(scope)}
            aria-current={name === slug ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <Content slug={slug} id={id} />
    </section>
  );
}

function Content({ slug, id }: { readonly slug: string; readonly id: string | undefined }) {
  const { title, scopes: [scope = 'read'] = [] } = TABS.find((one) => one.slug === slug) ?? {};
  if (title === undefined) return <h1 class="notice">There is no such page</h1>;
  if (lacks(scope))
    return (
      <div class="notice">
        <h1>{title}</h1>
        <p>{lacks(scope)}</p>
      </div>
    );
  const kind = KINDS.find((one) => one.slug === slug);
  if (!kind) return <PolicyPage />;
  return id === undefined ? <SetupList kind={kind} /> : <SetupOne kind={kind} id={id} />;
}
