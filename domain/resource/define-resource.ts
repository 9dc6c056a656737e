/**
 * One definition per resource: its HTTP routes and their OpenAPI entries (`api/serve-resource.ts`), its commands
 * (`cli/api-commands.ts`) and the typed client (`cli/call.ts`) come from it. It contains only data and schemas.
 */
import { z } from 'zod';
import type { FailureType } from '../errors.ts';
import type { Scope } from '../schema/api-key.ts';
import { pageQuery, pageSchema } from '../schema/scalars.ts';
import type { AnyCommand, Command, Flags, NoCommand, RemoveCommand } from './command.ts';

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
  /** True if the answer may also be 202, for work that continues after it. */
  readonly mayGoOn?: true;
  /** The row is looked up before the body is validated, so that a missing row is a 404 for every body. */
  readonly findsFirst?: boolean;
  readonly command?: AnyCommand | NoCommand | undefined;
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
  /** Schema of the key; a value that does not match is a 400 where it would name a new row, and else a 404. */
  readonly keySchema?: z.ZodType<string, string>;
  /**
   * A value that cannot be a key is a 404, like one that does not exist. Without it and a schema, each that can be stored may
   * be one.
   */
  readonly isKey?: (value: string) => boolean;
  /**
   * Its text is stored and shown unchanged, so a secret in it is refused. `except` names fields of bodies that may have
   * one: they are sealed, scrubbed, or not stored.
   */
  readonly isDefinition?: true | { readonly except: readonly string[] };
  /** Text of the 404. */
  readonly missing: string;
  /** Text of a 400 for a value that cannot be a key, instead of the 404: where other systems' clients expect it. */
  readonly malformed?: string;
  /** Rows have a name besides their id, which the list accepts (`?name=`): commands accept either. */
  readonly named?: true;
}

/**
 * `operations` gets the makers of the usual operations and returns operations by their operationIds, in the order of
 * the commands. `more` returns further ones, where one function would be too long.
 */
export function defineResource<
  const Key extends string,
  Item extends z.ZodType,
  Named extends Operations,
  More extends Operations = {},
>(
  { item, ...base }: Base<Key, Item>,
  operations: (make: ReturnType<typeof makersOf<Key, Item>>) => Named,
  more?: (make: ReturnType<typeof makersOf<Key, Item>>) => More,
): Resource<Named & More> {
  const make = makersOf({ item, ...base });
  return { ...base, operations: { ...operations(make), ...more?.(make) } as Named & More };
}

type Param<Params extends Schema> = Params extends z.ZodType ? keyof z.output<Params> & string : never;

/** What a command line sets: the body, or the query of an operation without a body. */
type Sent<Query extends Schema, Body extends Schema> = Body extends z.ZodType
  ? z.input<Body>
  : InputOf<Query>;

/** The command of an operation, or why it has none. */
type CommandOf<
  Answer extends z.ZodType,
  Params extends Schema,
  Query extends Schema,
  Body extends Schema,
  Argument extends string,
  Named extends Flags,
> = Command<z.output<Answer>, Sent<Query, Body>, Argument, Named, Param<Params>> | NoCommand;

type Writes<
  Params extends Schema,
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
  readonly command?: CommandOf<Answer, Params, undefined, Body, Argument, Named>;
};

function makersOf<Key extends string, Item extends z.ZodType>(base: Base<Key, Item>) {
  return { ...readsOf(base), ...writesOf(base) };
}

function oneOf<Key extends string>({ path, key, keySchema = z.string() }: Base<Key, z.ZodType>) {
  return {
    path: `${path}/:${key}`,
    params: z.object({ [key]: keySchema }) as z.ZodObject<Record<Key, z.ZodType<string, string>>>,
  };
}

function readsOf<Key extends string, Item extends z.ZodType>(base: Base<Key, Item>) {
  const { path, item } = base;
  const one = oneOf(base);
  type One = (typeof one)['params'];
  type Row = z.output<Item>;

  return {
    /** GET a page of rows. */
    list: <Query extends z.ZodRawShape = typeof pageQuery, const Named extends Flags = {}>({
      query,
      command,
      ...own
    }: Own & {
      readonly query?: Query;
      readonly command?: Command<z.output<Page<Item>>, z.input<z.ZodObject<Query>>, never, Named>;
    }) =>
      operation({
        ...own,
        method: 'GET',
        path,
        query: z.strictObject({ ...pageQuery, ...query } as typeof pageQuery & Query),
        answer: pageSchema(item),
        command: command && ({ word: 'list', ...command } as AnyCommand as never),
      }),
    /** GET all rows at once, for resources with few. */
    listAll: ({
      command,
      ...own
    }: Own & { readonly command?: Command<{ readonly data: readonly Row[] }, undefined, never, {}> }) =>
      operation({
        ...own,
        method: 'GET',
        path,
        answer: z.object({ data: z.array(item) }),
        command: command && ({ word: 'list', ...command } as AnyCommand as never),
      }),
    /** GET one row. */
    show: <Answer extends z.ZodType = Item>({
      command,
      answer,
      ...own
    }: Own & {
      /** The answer, when it contains more than a row of the list. */
      readonly answer?: Answer;
      readonly command?: CommandOf<Answer, One, undefined, undefined, never, {}>;
    }): Operation<One, undefined, undefined, NoInfer<Answer>> =>
      operation({
        ...own,
        ...one,
        method: 'GET',
        answer: (answer ?? item) as Answer,
        command: command && ({ word: 'show', ...command } as AnyCommand as never),
      }),
    /** GET a page of what belongs to one row: `{path}/{key}/{name}`. */
    listOf: <
      Part extends z.ZodType,
      Query extends z.ZodRawShape = typeof pageQuery,
      const Named extends Flags = {},
    >(
      name: string,
      part: Part,
      {
        query,
        command,
        ...own
      }: Own & {
        readonly query?: Query;
        readonly command?: CommandOf<Page<Part>, One, z.ZodObject<Query>, undefined, never, Named>;
      },
    ) =>
      operation({
        ...own,
        ...one,
        path: `${one.path}/${name}`,
        method: 'GET',
        findsFirst: true,
        query: z.strictObject({ ...pageQuery, ...query } as typeof pageQuery & Query),
        answer: pageSchema(part),
        command: command && ({ word: name, ...command } as AnyCommand as never),
      }),
  };
}

function writesOf<Key extends string, Item extends z.ZodType>(base: Base<Key, Item>) {
  const { path, item, key, field = key } = base;
  const one = oneOf(base);

  /** Makes operations with a body; `fixed` contains the method and path. */
  const write =
    <Params extends Schema>(
      fixed: Pick<Operation<Params>, 'path' | 'params' | 'method' | 'status' | 'findsFirst'>,
    ) =>
    <
      Body extends z.ZodType,
      Argument extends string = never,
      const Named extends Flags = {},
      Answer extends z.ZodType = Item,
    >({
      answer,
      status,
      ...own
    }: Writes<Params, Body, Answer, Argument, Named>): Operation<
      Params,
      undefined,
      Body,
      NoInfer<Answer>
    > => ({
      ...own,
      ...fixed,
      status: status ?? fixed.status,
      query: undefined,
      answer: (answer ?? item) as Answer,
    });

  return {
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
    remove: ({
      command,
      gone,
      ...own
    }: Own & { readonly gone?: string; readonly command?: RemoveCommand | NoCommand }) =>
      operation({
        ...own,
        ...one,
        method: 'DELETE',
        answer: gone === undefined ? z.null() : z.null().describe(gone),
        status: 204,
        command: (command && 'says' in command
          ? {
              ...command,
              says: (_answer: null, input: Record<Key, string>) => command.says(input[key]),
              answer: (input: Record<Key, string>) => ({ [field]: input[key], deleted: true }),
            }
          : command) as never,
      }),
  };
}

type Page<Item extends z.ZodType> = ReturnType<typeof pageSchema<Item>>;

type Parts<
  Params extends Schema,
  Query extends Schema,
  Body extends Schema,
  Answer extends z.ZodType,
  Argument extends string,
  Named extends Flags,
> = Pick<Operation<Params, Query, Body, Answer>, 'method' | 'path' | 'answer'> &
  Omit<Partial<Operation<Params, Query, Body, Answer>>, 'command'> &
  Own & {
    readonly command?: CommandOf<Answer, Params, Query, Body, Argument, Named> | undefined;
  };

/** An operation of any other form. Without `params`, `query` or `body` it takes none; the status defaults to 200. */
export function operation<
  Answer extends z.ZodType,
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
  Argument extends string = never,
  const Named extends Flags = {},
>(
  parts: Parts<Params, Query, Body, Answer, Argument, Named>,
): Operation<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>, Answer> {
  return {
    params: undefined as Params,
    query: undefined as Query,
    body: undefined as Body,
    status: 200,
    ...parts,
  };
}
