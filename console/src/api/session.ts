/** Who uses the console: logs in and out, and keeps the browser's session going. */
import { signal } from '@preact/signals';
import type { Operations } from '@tempoclaw/client';
import { type Problem, readProblem } from './problem.ts';
import { credentials, request, send } from './request.ts';

export type Me = Operations['GET /v1/me']['answer'];

export type Login =
  | { readonly state: 'loading' }
  | { readonly state: 'offline' }
  | { readonly state: 'out'; readonly problem?: Problem | undefined }
  | { readonly state: 'in'; readonly me: Me };

export const login = signal<Login>({ state: 'loading' });

export type Scope = Me['scopes'][number];

/** The server replaces the browser's token at this pace, while a page is open. */
const RENEW_MS = 15 * 60_000;
const RETRY_MS = 2_000;

/** Whether the key may do what needs the scope: the server decides, pages only grey out the rest. */
export function may(scope: Scope): boolean {
  return login.value.state === 'in' && login.value.me.scopes.includes(scope);
}

/** Why the key may not do what needs the scope; undefined when it may. */
export function lacks(scope: Scope): string | undefined {
  return may(scope) ? undefined : `Your key may not do this: it lacks the scope ${scope}`;
}

/** `link` is the token of a link that logs in; without it, or when it cannot be used, the browser's session continues. */
export async function startSession(link: string | undefined): Promise<void> {
  credentials.onEnd = () => {
    if (login.value.state === 'in') login.value = { state: 'out' };
  };
  setInterval(() => {
    // A page that nobody looks at does not keep its session going.
    if (login.value.state === 'in' && !document.hidden) void renew();
  }, RENEW_MS);
  const problem = link === undefined ? undefined : await logIn({ link });
  if (link === undefined || problem) await renew(problem);
}

/** Continues the session that the browser's cookie has, if any. `linkProblem` is shown when there is none. */
async function renew(linkProblem?: Problem): Promise<void> {
  const problem = await open('console/session');
  if (problem === undefined) return;
  if (problem.status === 401) login.value = { state: 'out', problem: linkProblem };
  else if (login.value.state !== 'in') {
    login.value = { state: 'offline' };
    setTimeout(() => void renew(linkProblem), RETRY_MS);
  }
}

export function logIn(
  secret: { readonly key: string } | { readonly link: string },
): Promise<Problem | undefined> {
  return open('console/login', secret);
}

/**
 * Resolves with the problem, also when the API could not be reached; then the session goes on. Somebody whom an identity
 * provider logged in may be sent there, to be logged out of it too.
 */
export async function logOut(): Promise<Problem | undefined> {
  const answer = await send('POST', 'console/logout');
  if (!(answer instanceof Response)) return answer;
  if (!answer.ok && answer.status !== 401) return readProblem(answer);
  login.value = { state: 'out' };
  if (answer.status !== 200) return undefined;
  const { location: page } = (await answer.json()) as { location: string };
  location.assign(page);
  return undefined;
}

async function open(path: string, body?: object): Promise<Problem | undefined> {
  const answer = await send('POST', path, body);
  if (!(answer instanceof Response)) return answer;
  if (!answer.ok) return readProblem(answer);
  const { csrf_token: csrf } = (await answer.json()) as { csrf_token: string };
  credentials.csrf = csrf;
  const me = await request('GET /v1/me', {});
  if (!me.ok) return me.problem;
  login.value = { state: 'in', me: me.data };
  return undefined;
}
