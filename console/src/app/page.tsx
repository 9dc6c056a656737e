/** The page of the current address: loads it, and shows that there is none. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Busy } from '../components/notices.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { hrefOf, matchPath, type PageProps } from './router.ts';
import { HOME, pagePath, ROUTES, type Route } from './routes.ts';

const loaded = signal<ReadonlyMap<Route, ComponentType<PageProps>>>(new Map());
const failed = signal<ReadonlyMap<Route, unknown>>(new Map());

async function load(route: Route): Promise<void> {
  try {
    const page = (await route.load()).default;
    loaded.value = new Map(loaded.peek()).set(route, page);
  } catch (error) {
    failed.value = new Map(failed.peek()).set(route, error);
  }
}

export function Page() {
  const path = pagePath.value;
  const [route, params] = findRoute(path);
  useEffect(() => {
    document.title = route ? `${params['key'] ?? route.title} · TempoClaw` : 'TempoClaw';
    if (route && !loaded.peek().has(route)) void load(route);
  }, [route, params['key']]);
  if (!route)
    return (
      <section class="notice">
        <h1>There is no such page</h1>
        <a href={hrefOf(HOME)}>Sessions</a>
      </section>
    );
  const Content = loaded.value.get(route);
  return (
    <ErrorBoundary key={path}>
      {Content ? <Content params={params} /> : <Waiting error={failed.value.get(route)} />}
    </ErrorBoundary>
  );
}

function Waiting({ error }: { readonly error: unknown }) {
  if (error !== undefined) throw error;
  return <Busy />;
}

function findRoute(path: string): readonly [Route | undefined, Readonly<Record<string, string>>] {
  for (const route of ROUTES) {
    const params = matchPath(route.path, path);
    if (params) return [route, params];
  }
  return [undefined, {}];
}
