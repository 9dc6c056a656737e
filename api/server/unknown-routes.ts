/** Answers 404 for unknown addresses, unless they are pages, and 405 with `Allow` for known addresses with wrong methods. */
import { Failure } from '#domain/errors.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { type IsPage, sendPage } from './browser-pages.ts';

/** Must be called before the routes are added. */
export function answerUnknownRoutes(app: Api, { findPage }: Pick<ApiDeps, 'findPage'>, isPage: IsPage): void {
  const known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const route = known.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const one of [method].flat()) route.methods.add(one);
    known.set(url, route);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const page = isPage(request) ? await findPage?.(request) : undefined;
    if (page) return sendPage(reply, page);
    const path = request.url.split('?', 1)[0] ?? '';
    // An address can be a route of its own and, for other methods, match another route's parameter.
    const methods = new Set(
      [...known.values()].flatMap((route) => (route.pattern.test(path) ? [...route.methods] : [])),
    );
    if (methods.size === 0 || methods.has(request.method)) throw new Failure('NotFound', 'No such address');
    reply.header('allow', [...methods].sort().join(', '));
    throw new Failure('MethodNotAllowed', `${request.method} is not possible here`);
  });
}

function patternOf(url: string): RegExp {
  const parts = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${parts.join('/')}$`);
}
