/** The frame around every page: navigation at the side, or at the bottom of a phone. */
import { useCallback } from 'preact/hooks';
import { logOut, type Me } from '../api/session.ts';
import { problemText } from '../api/problem.ts';
import { Help } from './help.tsx';
import { Page } from './page.tsx';
import { hrefOf, navigate } from './router.ts';
import { HOME, pagePath, type Route, ROUTES } from './routes.ts';
import { useShortcut } from './shortcuts.ts';
import { switchTheme, theme } from './theme.ts';
import { notify } from './toasts.tsx';

export function Shell({ me }: { readonly me: Me }) {
  return (
    <div class="shell">
      <a class="skip" href="#main" data-native onClick={focusMain}>
        Skip to content
      </a>
      <header>
        <a class="brand" href={hrefOf(HOME)}>
          TempoClaw
        </a>
        <nav aria-label="Pages">
          {ROUTES.map((route) => route.nav && <NavLink key={route.path} route={route} nav={route.nav} />)}
        </nav>
        <div class="tools">
          <Help />
          <button
            type="button"
            class="quiet"
            title={`Theme: ${theme.value}`}
            aria-label={`Theme: ${theme.value}`}
            onClick={switchTheme}
          >
            ◐
          </button>
          <button type="button" class="quiet" popovertarget="account" aria-label="Account">
            ◉
          </button>
          <Account me={me} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Page />
      </main>
    </div>
  );
}

function NavLink({ route, nav }: { readonly route: Route; readonly nav: NonNullable<Route['nav']> }) {
  const href = hrefOf(route.path.slice(1));
  useShortcut(
    nav.keys,
    `Go to ${route.title}`,
    useCallback(() => navigate(href), [href]),
  );
  const isHere = `${pagePath.value}/`.startsWith(`${route.path}/`);
  return (
    <a href={href} aria-current={isHere ? 'page' : undefined}>
      <span aria-hidden="true">{nav.icon}</span> {route.title}
    </a>
  );
}

function Account({ me }: { readonly me: Me }) {
  const end = async (): Promise<void> => {
    const problem = await logOut();
    if (problem) notify('failed', problemText(problem));
  };
  return (
    <div id="account" popover="auto" class="popover">
      <dl>
        <dt>Tenant</dt>
        <dd>{me.tenant}</dd>
        <dt>Key</dt>
        <dd>{me.key.name}</dd>
        <dt>User</dt>
        <dd>{me.user ?? 'any'}</dd>
        <dt>May</dt>
        <dd>{me.scopes.join(', ')}</dd>
        <dt>Version</dt>
        <dd>{me.version}</dd>
      </dl>
      <p>
        <a href={hrefOf('docs')} data-native>
          API reference
        </a>
        {me.temporal_ui && (
          <a href={me.temporal_ui} target="_blank" rel="noreferrer">
            Temporal UI
          </a>
        )}
      </p>
      <button type="button" onClick={() => void end()}>
        Log out
      </button>
    </div>
  );
}

/** The base of the page would make the link one to another address. */
function focusMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
