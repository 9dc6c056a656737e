/**
 * Pages that a feature serves to browsers, below addresses that belong to no route: a program that requests one gets
 * the usual 404.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api, ApiDeps, BrowserPage } from '../deps.ts';

export type IsPage = (request: FastifyRequest) => boolean;

/** Must be called before the routes are added. An address whose first part a route has is no page. */
export function recognizePages(app: Api, { findPage }: Pick<ApiDeps, 'findPage'>): IsPage {
  const taken = new Set<string>();
  app.addHook('onRoute', ({ url }) => void taken.add(firstPart(url)));
  return (request) =>
    findPage !== undefined &&
    request.is404 &&
    (request.method === 'GET' || request.method === 'HEAD') &&
    acceptsPages(request) &&
    !taken.has(firstPart(request.url));
}

export function acceptsPages({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '');
}

export function sendPage(reply: FastifyReply, { html, policy }: BrowserPage): FastifyReply {
  return reply
    .serializer(String)
    .header('vary', 'accept')
    .header('content-security-policy', policy)
    .type('text/html; charset=utf-8')
    .send(html);
}

/** Lower case, because a file system or proxy before us may not distinguish them. */
function firstPart(url: string): string {
  return (/^\/+([^/?#]*)/.exec(url)?.[1] ?? '').toLowerCase();
}
