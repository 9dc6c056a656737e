/** Where a turn is when something is killed. */

export type Victim = 'worker' | 'database' | 'engine';

export interface Point {
  readonly id: string;
  readonly victim: Victim;
  /** What has happened at the moment of the kill. */
  readonly title: string;
}

/** `worker` are all processes that run the agent's code: its loop, its tools and what accepts its turns. */
export const POINTS = [
  { id: 'before', victim: 'worker', title: 'the model has answered with the call' },
  { id: 'in', victim: 'worker', title: 'the service has the request; it happens in half of the turns' },
  { id: 'after', victim: 'worker', title: 'the payment has happened; no response yet' },
  { id: 'record', victim: 'worker', title: 'the response has been sent, up to 20 ms ago' },
  { id: 'answer', victim: 'worker', title: 'the model has given its last answer' },
  { id: 'database', victim: 'database', title: 'the service has the request; it happens' },
  { id: 'engine', victim: 'engine', title: 'the service has the request; it happens' },
] as const satisfies readonly Point[];

export type PointId = (typeof POINTS)[number]['id'];

/** Throws, and names the points that there are, when there is none with this id. */
export function pointOf(id: string): (typeof POINTS)[number] {
  const found = POINTS.find((point) => point.id === id);
  if (found) return found;
  throw new Error(`There is no point ${id}; there are ${POINTS.map((point) => point.id).join(', ')}.`);
}
