/** The pages, each loaded when it is first shown. A new page is a line here and a file in pages/. */
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { currentPath, type PageProps } from './router.ts';

export interface Route {
  /** `/sessions/:key`; the page gets `params.key`. */
  readonly path: string;
  readonly title: string;
  /** Its place in the navigation, with the keys that lead there. */
  readonly nav?: { readonly icon: string; readonly keys: string };
  load(): Promise<{ readonly default: ComponentType<PageProps> }>;
}

export const HOME = 'sessions';

/** The path of the page that is shown: the first one's, where the address names none. */
export const pagePath = computed(() =>
  currentPath.value === '/' || currentPath.value === '/login' ? `/${HOME}` : currentPath.value,
);

export const ROUTES: readonly Route[] = [
  {
    path: '/inbox',
    title: 'Inbox',
    nav: { icon: '✓', keys: 'g i' },
    load: () => import('../pages/inbox/inbox.tsx'),
  },
  {
    path: '/sessions',
    title: 'Sessions',
    nav: { icon: '☰', keys: 'g s' },
    load: () => import('../pages/sessions/session-list.tsx'),
  },
  {
    path: '/new-session',
    title: 'New session',
    load: () => import('../pages/sessions/new-session.tsx'),
  },
  {
    path: '/sessions/:key',
    title: 'Session',
    load: () => import('../pages/sessions/session-view.tsx'),
  },
  {
    path: '/sessions/:key/graph',
    title: 'Work below a session',
    load: () => import('../pages/sessions/session-graph.tsx'),
  },
  {
    path: '/runs/:id',
    title: 'Run',
    load: () => import('../pages/runs/run-view.tsx'),
  },
  {
    path: '/runs/:id/compare/:other',
    title: 'Two runs',
    load: () => import('../pages/runs/run-compare.tsx'),
  },
  {
    path: '/costs',
    title: 'Costs',
    nav: { icon: '$', keys: 'g c' },
    load: () => import('../pages/costs/costs.tsx'),
  },
  {
    path: '/teams',
    title: 'Teams',
    nav: { icon: '▥', keys: 'g t' },
    load: () => import('../pages/teams/team-list.tsx'),
  },
  {
    path: '/teams/:key',
    title: 'Team',
    load: () => import('../pages/teams/team-board.tsx'),
  },
  {
    path: '/setup',
    title: 'Set up',
    nav: { icon: '⚙', keys: 'g u' },
    load: () => import('../pages/setup/setup.tsx'),
  },
  {
    path: '/setup/:kind',
    title: 'Set up',
    load: () => import('../pages/setup/setup.tsx'),
  },
  {
    path: '/setup/:kind/:id',
    title: 'Set up',
    load: () => import('../pages/setup/setup.tsx'),
  },
  {
    path: '/health',
    title: 'Health',
    nav: { icon: '♥', keys: 'g h' },
    load: () => import('../pages/health.tsx'),
  },
];
