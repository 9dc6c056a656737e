/** The pages, each loaded when it is first shown. A new page is a line here and a file in pages/. */
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { IconName } from '../components/icon.tsx';
import { currentPath, type PageProps } from './router.ts';

export interface Route {
  /** `/sessions/:key`; the page gets `params.key`. */
  readonly path: string;
  readonly title: string;
  /** Its place in the navigation, with the keys that lead there, and the paths of pages that are reached from it. */
  readonly nav?: { readonly icon: IconName; readonly keys: string; readonly below: readonly string[] };
  load(): Promise<{ readonly default: ComponentType<PageProps> }>;
}

export const HOME = 'sessions';

/** The path of the page that is shown: the first one's, where the address names none. */
export const pagePath = computed(() =>
  currentPath.value === '/' || currentPath.value === '/login' ? `/${HOME}` : currentPath.value,
);

const page = (
  path: string,
  title: string,
  load: Route['load'],
  icon?: IconName,
  keys = '',
  ...below: readonly string[]
): Route => ({ path, title, load, ...(icon && { nav: { icon, keys, below } }) });
const sessions = (): ReturnType<Route['load']> => import('../pages/sessions/session-list.tsx');
const setup = (): ReturnType<Route['load']> => import('../pages/setup/setup.tsx');

export const ROUTES: readonly Route[] = [
  page('/inbox', 'Inbox', () => import('../pages/inbox/inbox.tsx'), 'inbox', 'g i'),
  page('/sessions', 'Sessions', sessions, 'sessions', 'g s', '/new-session', '/runs'),
  page('/new-session', 'New session', () => import('../pages/sessions/new-session.tsx')),
  page('/sessions/:key', 'Session', () => import('../pages/sessions/session-view.tsx')),
  page('/sessions/:key/graph', 'Work below a session', () => import('../pages/sessions/session-graph.tsx')),
  page('/runs/:id', 'Run', () => import('../pages/runs/run-view.tsx')),
  page('/runs/:id/compare/:other', 'Two runs', () => import('../pages/runs/run-compare.tsx')),
  page('/costs', 'Costs', () => import('../pages/costs/costs.tsx'), 'costs', 'g c'),
  page('/teams', 'Teams', () => import('../pages/teams/team-list.tsx'), 'teams', 'g t'),
  page('/teams/:key', 'Team', () => import('../pages/teams/team-board.tsx')),
  page('/setup', 'Set up', setup, 'setup', 'g u'),
  page('/setup/:kind', 'Set up', setup),
  page('/setup/:kind/:id', 'Set up', setup),
  page('/health', 'Health', () => import('../pages/health.tsx'), 'health', 'g h'),
];
