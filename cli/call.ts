/** The typed client: one call for each operation of a resource. The definition has the types of request and answer. */
import type { InputOf, Operation } from '#domain/resource/define-resource.ts';
import type { z } from 'zod';
import type { Client, Query } from './client.ts';

/** Parts that the definition leaves undefined are not required here. */
type RequestOf<One extends Operation> = {
  readonly [Part in 'params' | 'query' | 'body' as One[Part] extends z.ZodType ? Part : never]: InputOf<
    One[Part]
  >;
};

/** Throws as the client does. The client makes the key of an idempotent POST. */
export async function call<One extends Operation>(
  client: Client,
  operation: One,
  request: RequestOf<One>,
): Promise<z.output<One['answer']>> {
  const { params = {}, query, body } = request as Partial<Record<'params' | 'query' | 'body', object>>;
  return (await send(client, operation, params, body ?? query, body && (query as Query))) as z.output<
    One['answer']
  >;
}

/** `sent` is the query or the body, whichever the method has. */
export function send(
  client: Client,
  { method, path }: Pick<Operation, 'method' | 'path'>,
  params: object,
  sent: object | undefined,
  /** Only for a method that has a body. */
  query?: Query,
): Promise<unknown> {
  const words = new Map(Object.entries(params));
  const address = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(words.get(name)));
  const isRead = method === 'GET' || method === 'DELETE';
  return client.send(method, address, isRead ? undefined : sent, isRead ? (sent as Query) : query);
}
