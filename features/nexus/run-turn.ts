/**
 * The operation `runTurn`. Its endpoint says whose turn it is: a credential in the request would stay in the history of
 * the calling workflow. The message is in a row before the workflow starts, so Temporal has no text of it from us.
 */
import { createHash } from 'node:crypto';
import { operationInfo, TemporalOperationHandler } from '@temporalio/nexus';
import { HandlerError, type HandlerErrorType } from 'nexus-rpc';
import { z } from 'zod';
import { refuseSecretIds } from '#api/server/refuse-secrets.ts';
import { MAIN_AGENT } from '#api/tenant-defaults.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import type { SendSystemMessage } from '#activities/turn/send-system-message.ts';
import type { Config } from '#config';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { FAILURES, Failure } from '#domain/errors.ts';
import { MAX_MESSAGE } from '#domain/schema/message.ts';
import { nameSchema, sessionKeySchema, textSchema } from '#domain/schema/scalars.ts';
import { isDatabaseFault } from '#store/postgres/pool.ts';
import { searchAttributes } from '#temporal/reach-workflows.ts';
import { type FollowedTurn, NEXUS_TURN, operationsOf, type TurnOutput } from './contract.ts';
import type { RunTurnInput } from './service.ts';
import type { NexusCaller } from './settings.ts';

const inputSchema = z.strictObject({
  text: textSchema(MAX_MESSAGE),
  agent: nameSchema.default(MAIN_AGENT),
  session: sessionKeySchema.optional(),
});

export interface RunTurnDeps extends Pick<ActivityDeps, 'scrubberOf'> {
  readonly config: Pick<Config, 'nexus'>;
  readonly wake: SendSystemMessage;
  readonly reach: Pick<WorkflowReach, 'cancel'>;
  readonly log: { warn(details: object, message: string): void };
}

export function createRunTurn(deps: RunTurnDeps): TemporalOperationHandler<RunTurnInput, TurnOutput> {
  const endpoints = new Map(Object.entries(deps.config.nexus.endpoints));

  /** @throws Failure Forbidden */
  function callerOf(): NexusCaller & { readonly endpoint: string } {
    const { endpoint } = operationInfo();
    const caller = endpoints.get(endpoint);
    if (caller) return { ...caller, endpoint };
    const known = endpoint === '' ? 'Temporal does not name the endpoint (it does since 1.30)' : endpoint;
    throw new Failure('Forbidden', `No endpoint of the setting nexus.endpoints: ${known}`);
  }

  return new TemporalOperationHandler({
    start: ({ requestId }, client, input) =>
      refusing(deps, async () => {
        const caller = callerOf();
        // The server's id is the same when it sends the request again.
        const stem = createHash('sha256')
          .update(`${caller.endpoint}\n${requestId}`)
          .digest('hex')
          .slice(0, 32);
        const { agent, ...turn } = await beginTurn(deps, caller, stem, input);
        const { tenant, user, endpoint } = caller;
        return client.startWorkflow<(turn: FollowedTurn) => Promise<TurnOutput>>(NEXUS_TURN, {
          workflowId: `${operationsOf(tenant, endpoint)}${stem}`,
          workflowIdConflictPolicy: 'USE_EXISTING',
          args: [turn],
          staticSummary: `${agent}: for the Nexus endpoint ${endpoint}`,
          typedSearchAttributes: searchAttributes({ tenant, agent, user, session: turn.session }),
        });
      }),
    // A client that talks to the endpoint without a workflow can name any id.
    cancelWorkflowRun: (_context, { workflowId }) =>
      refusing(deps, async () => {
        const { tenant, endpoint } = callerOf();
        if (!workflowId.startsWith(operationsOf(tenant, endpoint)))
          throw new Failure('NotFound', 'There is no such operation');
        await deps.reach.cancel(workflowId);
      }),
  });
}

/** Safe to repeat with the same stem: it is the same turn. */
async function beginTurn(
  { wake, scrubberOf }: RunTurnDeps,
  { tenant, user, agents }: NexusCaller,
  stem: string,
  input: unknown,
): Promise<FollowedTurn & { readonly agent: string }> {
  const { data, error } = inputSchema.safeParse(input);
  if (!data) throw new Failure('InvalidInput', schemaProblem(error, 'input'));
  const { text, agent, session = `nexus:${stem}` } = data;
  if (agents && !agents.includes(agent))
    throw new Failure('Forbidden', `This endpoint is not for the agent ${agent}`);
  refuseSecretIds(await scrubberOf(tenant), { session }, 'input');
  const { turn_id: turn } = await wake({
    tenant,
    session,
    messageId: `msg_nexus-${stem}`,
    text,
    agent,
    mode: 'queue',
    context: { ...(user !== undefined && { user }), roles: ['read', 'run'] },
    confinedTo: user,
    isOwn: true,
    isNewWork: true,
  });
  return { tenant, session, turn, agent };
}

const HANDLER_ERRORS: Readonly<Record<number, HandlerErrorType>> = {
  403: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** Callers get our refusals, and no words of other errors. */
async function refusing<Result>({ log }: RunTurnDeps, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) {
      const { status, retryable } = FAILURES[error.type];
      const type = HANDLER_ERRORS[status] ?? 'BAD_REQUEST';
      throw new HandlerError(type, `${error.type}: ${error.message}`, {
        retryableOverride: retryable,
        stackTrace: '',
      });
    }
    if (!isDatabaseFault(error)) log.warn({ err: error }, 'a Nexus request failed');
    throw new HandlerError('INTERNAL', 'It failed for now', { retryableOverride: true, stackTrace: '' });
  }
}
