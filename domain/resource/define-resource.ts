/**
 * One definition of a resource. Its HTTP routes and OpenAPI entries (`api/serve-resource.ts`), its commands
 * (`cli/resource-commands.ts`) and the typed client (`cli/call.ts`) are created from it. It contains data and schemas
 * only.
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

/** The parts of an operation that each maker below copies unchanged. */
interface Own {
  readonly scope: Scope;
  /** Tag in the OpenAPI document, in place of the resource's. */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  /** Failures besides those of every route. */
  readonly refuses?: readonly FailureType[];
  /** Greatest size of the body, in place of the server's. */
  readonly maxBytes?: number;
  /**
   * A repeat may run concurrently with the first request with the same Idempotency-Key, because its ids derive from the
   * key.
   */
  readonly repeatable?: true;
  /** Fields of the answer that are null when the request is repeated. */
  readonly shownOnce?: readonly string[];
}

export interface Operation<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
  Answer extends z.ZodType = z.ZodType,
> extends Own {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The whole path, with its parameters as `:id`. */
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly answer: Answer;
  readonly status: 200 | 201 | 202 | 204;
  /** The row is looked up before the body is validated, so that a missing row is a 404 for every body. */
  readonly findsFirst?: boolean;
  readonly command?: ResourceCommand | undefined;
}

/** Operations by their names (`operationId`). */
export type Operations = Readonly<Record<string, Operation>>;

export interface Resource<Named extends Operations = Operations>
  extends Omit<Base<string, z.ZodType>, 'item'> {
  readonly operations: Named;
}

export type OutputOf<Given extends Schema> = Given extends z.ZodType ? z.output<Given> : undefined;
export type InputOf<Given extends Schema> = Given extends z.ZodType ? z.input<Given> : undefined;

interface Base<Key extends string, Item extends z.ZodType> {
  readonly path: string;
  /** Tag in the OpenAPI document. */
  readonly tag: string;
  /** Schema of one row as answers contain it. */
  readonly item: Item;
  /** Name of the path's parameter. */
  readonly key: Key;
  /** The row's field with the same value; absent when it has the parameter's name. */
  readonly field?: string;
  /** Schema of the key; a value that does not match is a 400. */
  readonly keySchema?: z.ZodType<string, string>;
  /** A value that cannot be a key is a 404, like one that does not exist. */
  readonly isKey?: (value: string) => boolean;
  /** Its text is stored and shown unchanged, so a secret in it is refused. */
  readonly isDefinition?: true;
  /** Text of the 404. */
  readonly missing: string;
  /** Rows have a name besides their id, which the list accepts (`?name=`): commands accept either. */
  readonly named?: true;
}

/**
 * `operations` receives the makers of the usual operations and returns them by their operationIds, in the order of the
 * commands.
 */
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
  /** Status, when it is not the usual one. */
  readonly status?: 201 | 202;
  /** Schema of the answer, when it is not the row. */
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

  /** Makes operations with a body; `fixed` contains the method and path. */
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
    /** GET a page of rows. */
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
    /** GET all rows at once, for resources with few. */
    listAll: ({ command, ...own }: Own & { readonly command?: ListCommand<Row, never> }) =>
      operation({
        ...own,
        method: 'GET',
        path,
        answer: z.object({ data: z.array(item) }),
        command: command && { kind: 'list', ...command },
      }),
    /** GET one row. */
    show: ({ command, ...own }: Own & { readonly command?: ShowCommand<Row> }) =>
      operation({
        ...own,
        ...one,
        method: 'GET',
        answer: item,
        command: command && { kind: 'show', ...command },
      }),
    /** GET a page of what belongs to one row: `{path}/{key}/{name}`. */
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
    /** POST a new row: 201, with its address when rows can be shown. */
    create: write({ path, params: undefined, method: 'POST', status: 201 }),
    /** PATCH one row: the fields in the body replace the old ones. */
    change: write({ ...one, method: 'PATCH', status: 200, findsFirst: true }),
    /** PUT the whole of an existing row. */
    replace: write({ ...one, method: 'PUT', status: 200, findsFirst: true }),
    /** PUT one row, whether or not it exists. */
    put: write({ ...one, method: 'PUT', status: 200 }),
    /** POST any other action on one row: `{path}/{key}/{name}`. */
    action: (name: string) =>
      write({ ...one, path: `${one.path}/${name}`, method: 'POST', status: 200, findsFirst: true }),
    /** DELETE one row: 204. `gone` describes that in the OpenAPI document. */
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

/** An operation of any other form. Without `params`, `query` or `body` it takes none; the status defaults to 200. */
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
