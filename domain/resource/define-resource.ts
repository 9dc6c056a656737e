/**
 * One definition a resource: its HTTP routes and their OpenAPI entries (`api/serve-resource.ts`), its commands
 * (`cli/resource-commands.ts`) and the typed client (`cli/call.ts`) come from it. Data and schemas only.
 */
import { z } from 'zod';
import type { FailureType } from '../errors.ts';
import type { Scope } from '../schema/api-key.ts';
import { pageQuery, pageSchema } from '../schema/scalars.ts';
import type {
  Flags,
  ListCommand,
  RemoveCommand,
  ResourceCommand,
  ShowCommand,
  WriteCommand,
} from './command.ts';

type Schema = z.ZodType | undefined;

/** What each maker below takes of an operation as it is. */
interface Own {
  readonly scope: Scope;
  /** Of the OpenAPI document, in place of the resource's. */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  /** Beside those that every route may give. */
  readonly refuses?: readonly FailureType[];
  /** Of the body, in place of the server's. */
  readonly maxBytes?: number;
  /** May run while the first request with the same Idempotency-Key does, since its ids follow from the key. */
  readonly repeatable?: true;
  /** Fields of the answer that a repeat of the request gets as null. */
  readonly shownOnce?: readonly string[];
}

export interface Operation<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
  Answer extends z.ZodType = z.ZodType,
> extends Own {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Whole, with its parameters as `:id`. */
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly answer: Answer;
  readonly status: 200 | 201 | 202 | 204;
  /** The row is looked for before the body is looked at, so that what is not there is a 404 for every body. */
  readonly findsFirst?: boolean;
  readonly command?: ResourceCommand | undefined;
}

/** Name of the operation (its `operationId`) to the operation. */
export type Operations = Readonly<Record<string, Operation>>;

export interface Resource<Named extends Operations = Operations>
  extends Omit<Base<string, z.ZodType>, 'item'> {
  readonly operations: Named;
}

export type OutputOf<Given extends Schema> = Given extends z.ZodType ? z.output<Given> : undefined;
export type InputOf<Given extends Schema> = Given extends z.ZodType ? z.input<Given> : undefined;

interface Base<Key extends string, Item extends z.ZodType> {
  readonly path: string;
  /** Of the OpenAPI document. */
  readonly tag: string;
  /** One row as answers show it. */
  readonly item: Item;
  /** The path's parameter. */
  readonly key: Key;
  /** The row's field with the same value; named as the parameter when absent. */
  readonly field?: string;
  /** What is wrong by it is a 400. */
  readonly keySchema?: z.ZodType<string, string>;
  /** What cannot be one is a 404, as one that never was. */
  readonly isKey?: (value: string) => boolean;
  /** What is written of it is kept and shown as it is, so that a secret in it is refused. */
  readonly isDefinition?: true;
  /** Said in the 404. */
  readonly missing: string;
  /** Rows have a name beside their id, by which the list finds them (`?name=`): commands take either. */
  readonly named?: true;
}

/** `operations` gets the makers of the usual ones and gives them by their operationIds, in the order of the commands. */
export function defineResource<const Key extends string, Item extends z.ZodType, Named extends Operations>(
  { item, ...base }: Base<Key, Item>,
  operations: (make: ReturnType<typeof makersOf<Key, Item>>) => Named,
): Resource<Named> {
  return { ...base, operations: operations(makersOf({ item, ...base })) };
}

type Writes<
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Argument extends string,
  Named extends Flags,
> = Own & {
  readonly body: Body;
  /** Where it is not the usual one. */
  readonly status?: 201 | 202;
  /** Where it is not the row. */
  readonly answer?: Answer;
  readonly command?: WriteCommand<z.output<Answer>, z.input<Body>, Argument, Named>;
};

function makersOf<Key extends string, Item extends z.ZodType>(base: Base<Key, Item>) {
  const { path, item, key, keySchema = z.string() } = base;
  type Row = z.output<Item>;
  const one = {
    path: `${path}/:${key}`,
    params: z.object({ [key]: keySchema }) as z.ZodObject<Record<Key, z.ZodType<string, string>>>,
  };

  /** For what has a body: `fixed` is where it is sent. */
  const write =
    <Params extends Schema>(
      fixed: Pick<Operation<Params>, 'path' | 'params' | 'method' | 'status' | 'findsFirst'>,
    ) =>
    <
      Body extends z.ZodType,
      Argument extends string,
      const Named extends Flags,
      Answer extends z.ZodType = Item,
    >({
      command,
      answer,
      status,
      ...own
    }: Writes<Body, Answer, Argument, Named>): Operation<Params, undefined, Body, NoInfer<Answer>> => ({
      ...own,
      ...fixed,
      status: status ?? fixed.status,
      query: undefined,
      answer: (answer ?? item) as Answer,
      command: command && { kind: 'write', ...(command as WriteCommand<unknown, unknown>) },
    });

  return {
    /** GET of a page of rows. */
    list: <Query extends z.ZodRawShape = typeof pageQuery>({
      query,
      command,
      ...own
    }: Own & { readonly query?: Query; readonly command?: ListCommand<Row, keyof Query & string> }) =>
      operation({
        ...own,
        method: 'GET',
        path,
        query: z.strictObject({ ...pageQuery, ...query } as typeof pageQuery & Query),
        answer: pageSchema(item),
        command: command && { kind: 'list', ...(command as ListCommand<unknown>) },
      }),
    /** GET of all rows at once, where they are few. */
    listAll: ({ command, ...own }: Own & { readonly command?: ListCommand<Row, never> }) =>
      operation({
        ...own,
        method: 'GET',
        path,
        answer: z.object({ data: z.array(item) }),
        command: command && { kind: 'list', ...command },
      }),
    /** GET of one row. */
    show: ({ command, ...own }: Own & { readonly command?: ShowCommand<Row> }) =>
      operation({
        ...own,
        ...one,
        method: 'GET',
        answer: item,
        command: command && { kind: 'show', ...command },
      }),
    /** GET of a page of what one row has: `{path}/{key}/{name}`. */
    listOf: <Part extends z.ZodType, Query extends z.ZodRawShape = typeof pageQuery>(
      name: string,
      part: Part,
      { query, ...own }: Own & { readonly query?: Query },
    ) =>
      operation({
        ...own,
        ...one,
        path: `${one.path}/${name}`,
        method: 'GET',
        findsFirst: true,
        query: z.strictObject({ ...pageQuery, ...query } as typeof pageQuery & Query),
        answer: pageSchema(part),
      }),
    /** POST of a new row: 201, with its address where rows can be shown. */
    create: write({ path, params: undefined, method: 'POST', status: 201 }),
    /** PATCH of one row: given fields replace the old ones. */
    change: write({ ...one, method: 'PATCH', status: 200, findsFirst: true }),
    /** PUT of all of one row that is there. */
    replace: write({ ...one, method: 'PUT', status: 200, findsFirst: true }),
    /** PUT of one row, there or not. */
    put: write({ ...one, method: 'PUT', status: 200 }),
    /** Whatever else is done to one row: POST of `{path}/{key}/{name}`. */
    action: (name: string) =>
      write({ ...one, path: `${one.path}/${name}`, method: 'POST', status: 200, findsFirst: true }),
    /** DELETE of one row: 204. `gone` describes that in the OpenAPI document. */
    remove: ({ command, gone, ...own }: Own & { readonly gone?: string; readonly command?: RemoveCommand }) =>
      operation({
        ...own,
        ...one,
        method: 'DELETE',
        answer: gone === undefined ? z.null() : z.null().describe(gone),
        status: 204,
        command: command && { kind: 'remove', ...command },
      }),
  };
}

type Parts<Params extends Schema, Query extends Schema, Body extends Schema, Answer extends z.ZodType> = Pick<
  Operation<Params, Query, Body, Answer>,
  'method' | 'path' | 'answer'
> &
  Partial<Operation<Params, Query, Body, Answer>> &
  Own;

/** An operation that no maker makes. Without `params`, `query` or `body` it takes none; 200 when no status is given. */
export function operation<
  Answer extends z.ZodType,
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  parts: Parts<Params, Query, Body, Answer>,
): Operation<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>, Answer> {
  return {
    params: undefined as Params,
    query: undefined as Query,
    body: undefined as Body,
    status: 200,
    ...parts,
  };
}
