/** There is no connection: why, and when there may be one. */
export class McpAway extends Error {}
