/** The frame around every page: navigation at the side, or at the bottom of a phone. */

import { problemText } from '../api/problem.ts';
import { logOut, type Me } from '../api/session.ts';
import { Button, Popover } from '../components/button.tsx';
import { Fact } from '../components/fact.tsx';
import { Icon, Mark } from '../components/icon.tsx';
import { NewTab } from '../components/page-frame.tsx';
import { Help } from './help.tsx';
import { Page } from './page.tsx';
import { hrefOf, navigate } from './router.ts';
import { HOME, pagePath, ROUTES, type Route } from './routes.ts';
import { useShortcut } from './shortcuts.ts';
import { switchTheme, theme } from './theme.ts';
import { notify } from './toasts.tsx';

export function Shell({ me }: { readonly me: Me }) {
  const look = `Theme: ${theme.value}`;
  return (
    <div class="shell">
      <a class="skip" href="#main" data-native onClick={focusMain}>
        Skip to content
      </a>
      <header>
        <a class="brand" href={hrefOf(HOME)}>
          <Mark /> TempoClaw
        </a>
        <nav aria-label="Pages">
          {ROUTES.map((route) => route.nav && <NavLink key={route.path} route={route} nav={route.nav} />)}
        </nav>
        <div class="tools">
          <Help />
          <Button class="quiet" title={look} aria-label={look} onClick={switchTheme}>
            <Icon name="theme" />
          </Button>
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
  useShortcut(nav.keys, `Go to ${route.title}`, () => navigate(href));
  const isHere = [route.path, ...nav.below].some((path) => `${pagePath.value}/`.startsWith(`${path}/`));
  return (
    <a href={href} aria-current={isHere ? 'page' : undefined}>
      <Icon name={nav.icon} /> {route.title}
    </a>
  );
}

function Account({ me: { tenant, key, user, scopes, version, temporal_ui: temporal } }: { readonly me: Me }) {
  const end = async (): Promise<void> => {
    const problem = await logOut();
    if (problem) notify('failed', problemText(problem));
  };
  const facts = {
    Tenant: tenant,
    Key: key.name,
    User: user ?? 'any',
    May: scopes.join(', '),
    Version: version,
  };
  return (
    <Popover label={<Icon name="account" />} class="quiet" aria-label="Account">
      {() => (
        <>
          <dl>
            {Object.entries(facts).map(([name, value]) => (
              <Fact key={name} name={name}>
                {value}
              </Fact>
            ))}
          </dl>
          <p>
            <a href={hrefOf('docs')} data-native>
              API reference
            </a>
            <NewTab href={temporal}>Temporal UI</NewTab>
          </p>
          <Button onClick={() => void end()}>Log out</Button>
        </>
      )}
    </Popover>
  );
}

/** The base of the page would make the link one to another address. */
function focusMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
