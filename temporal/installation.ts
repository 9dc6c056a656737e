/**
 * Keeps a namespace for one installation (domain/installation.ts): everything that uses it checks first whose it is.
 */
import { randomUUID } from 'node:crypto';
import type { WorkflowService } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { ForeignNamespace, INSTALLATION } from '#domain/installation.ts';
import { GRPC, grpcCode } from './grpc-error.ts';

/** The value in temporal.api.enums.v1.WorkflowExecutionStatus. */
const RUNNING = 1;
/** A hundred years; no worker knows the type, so the run never starts. */
const NEVER_MS = 3_153_600_000_000;
/** Another server needs longer than this to take over the address of one that has ended. */
const LOOK_MS = 1_000;

export interface NamespacePlace {
  /** The service of the connection that the work itself uses, so that both reach the same server. */
  readonly service: Pick<WorkflowService, 'describeWorkflowExecution' | 'startWorkflowExecution'>;
  readonly namespace: string;
}

/**
 * For a start: resolves when the namespace belongs to the installation, and claims a namespace without an owner. Throws
 * ForeignNamespace when it belongs to another. Safe to repeat, also concurrently.
 */
export async function claimNamespace(place: NamespacePlace, installation: string): Promise<void> {
  const found = await readHolder(place);
  const holder = found?.open ? found.id : await begin(place, installation);
  if (holder !== installation) throw new ForeignNamespace(place.namespace, holder);
}

interface Holder {
  readonly id: string | undefined;
  /** When its run was ended, the next start may claim the namespace. */
  readonly open: boolean;
}

/** Undefined when nobody has claimed the namespace. */
async function readHolder({ service, namespace }: NamespacePlace): Promise<Holder | undefined> {
  const { workflowId } = INSTALLATION;
  try {
    const { workflowExecutionInfo: info } = await service.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    });
    const value = info?.memo?.fields?.[INSTALLATION.memo];
    return {
      id: value ? defaultPayloadConverter.fromPayload<string>(value) : undefined,
      open: Number(info?.status) === RUNNING,
    };
  } catch (error) {
    if (grpcCode(error) === GRPC.NOT_FOUND) return undefined;
    throw error;
  }
}

async function begin(place: NamespacePlace, installation: string): Promise<string | undefined> {
  try {
    await place.service.startWorkflowExecution({
      namespace: place.namespace,
      requestId: randomUUID(),
      workflowId: INSTALLATION.workflowId,
      workflowType: { name: INSTALLATION.type },
      taskQueue: { name: INSTALLATION.type },
      workflowStartDelay: msToTs(NEVER_MS),
      memo: { fields: { [INSTALLATION.memo]: defaultPayloadConverter.toPayload(installation) } },
      userMetadata: {
        summary: defaultPayloadConverter.toPayload(
          'names the installation whose this namespace is; does nothing',
        ),
      },
    });
    return installation;
  } catch (error) {
    // Another process of ours was faster, or another installation.
    if (grpcCode(error) === GRPC.ALREADY_EXISTS) return (await readHolder(place))?.id;
    throw error;
  }
}

/**
 * Called before each unit of work: throws ForeignNamespace unless the namespace belongs to the installation. A new
 * server at the address does not get it, because it may belong to another installation. Costs one query per second.
 */
export function keepNamespace(place: NamespacePlace, installation: string): () => Promise<void> {
  let checkedAt = -LOOK_MS;
  let pending: Promise<void> | undefined;
  const compare = async (): Promise<void> => {
    const holder = await readHolder(place);
    if (holder?.id !== installation)
      throw new ForeignNamespace(place.namespace, holder?.open ? holder.id : undefined);
    checkedAt = performance.now();
  };
  return async () => {
    if (performance.now() - checkedAt < LOOK_MS) return;
    pending ??= compare().finally(() => {
      pending = undefined;
    });
    await pending;
  };
}
