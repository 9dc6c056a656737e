/** What the tools of an OpenAPI document have as settings. */

/** An operation, as `approval` judges it. */
export interface Operation {
  /** Its `operationId` in lower case with `_`, or else its method and path: `get_orders_id`. */
  readonly name: string;
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly tags: readonly string[];
}

export interface OpenapiOptions {
  /** Names of the operations that become tools; all by default. */
  readonly only?: readonly string[];
  /** Where requests go; by default, to the document's first server. */
  readonly baseUrl?: string;
  /** Name of the tenant's secret (`tempoclaw secrets set NAME`) that requests carry. */
  readonly secret?: string;
  /**
   * How they carry it; by default, as the document says, else as a bearer token. The secret of `basic` is
   * `user:password`.
   */
  readonly auth?: 'bearer' | 'basic' | { readonly header: string } | { readonly query: string };
  /** People decide about each call. By default, about those of operations that may change something. */
  readonly approval?: boolean | ((operation: Operation) => boolean);
  /** Header by which the service recognises a repeated request. With it, a lost POST or PATCH may run again. */
  readonly idempotencyHeader?: string;
  /** Seconds that one request may take; 60 by default. */
  readonly timeout?: number;
}
