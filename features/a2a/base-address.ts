/** The address by which a client reaches this API. */
import type { FastifyRequest } from 'fastify';
import type { ApiSettings } from '#api/deps.ts';

export function baseOf({ publicUrl }: Pick<ApiSettings, 'publicUrl'>, request: FastifyRequest): string {
  return publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`;
}
