/** The typed client: one call an operation of a resource, with what its definition says is sent and answered. */
import type { InputOf, Operation } from '#domain/resource/define-resource.ts';
import type { z } from 'zod';
import type { Client, Query } from './client.ts';

/** What is undefined in the definition is not asked for here. */
export type Asked<One extends Operation> = {
  readonly [Part in 'params' | 'query' | 'body' as One[Part] extends z.ZodType ? Part : never]: InputOf<
    One[Part]
  >;
};

export type AnswerOf<One extends Operation> = z.output<One['answer']>;

/** Throws as the client does. The key of an idempotent POST is the client's. */
export async function call<One extends Operation>(
  client: Client,
  { method, path }: One,
  asked: Asked<One>,
): Promise<AnswerOf<One>> {
  const {
    params = {},
    query,
    body,
  } = asked as {
    params?: Readonly<Record<string, string>>;
    query?: Query;
    body?: unknown;
  };
  const address = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return (await client.send(method, address, body, query)) as AnswerOf<One>;
}
