/** `tempoclaw/feature/routes`: what answers the operations. */
export { Failure } from '#domain/errors.ts';
export type { Api } from '#api/deps.ts';
export { type Call, type Handlers, serveResource } from '#api/serve-resource.ts';
export { readCreatedPage, readTextPage, readTimePage } from '#api/server/pages.ts';
