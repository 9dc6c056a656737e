/**
 * Whether a workflow, or anything below it, waits for an approval. People filter by this state. Each workflow reports
 * it to its parent, so that it reaches the top through any number of levels.
 */
import { defaultPayloadConverter, defineSearchAttributeKey, type Headers } from '@temporalio/common';
import {
  CancellationScope,
  defineSignal,
  getExternalWorkflowHandle,
  log,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { APPROVAL } from '#domain/approval/approval.ts';
import { ASSIGNMENT } from '#domain/assignment/assignment.ts';
import { isRecord, isText } from '#domain/outside-value.ts';
import type { WorkState } from '#domain/search-attributes.ts';

const STATE = defineSearchAttributeKey('TempoclawState', 'KEYWORD');

type TurnWorkState = Extract<WorkState, 'running' | 'waiting_approval'>;

/** `at` is in milliseconds since 1970, because Temporal may deliver two signals of one child in another order. */
interface Report {
  readonly child: string;
  readonly waits: boolean;
  readonly at: number;
}

const reportSignal = defineSignal<[Report]>('childWaitsForApproval');

/**
 * Contains the id of the workflow that a child reports to. Without it, for a child of a stranger, nothing is reported.
 */
const HEADER = 'tempoclaw-reports-to';

/** Greatest number of children whose reports are kept, and of an id's characters. */
const MAX_CHILDREN = 1_000;
const MAX_OF_ID = 1_000;

export interface ApprovalWaits {
  readonly outbound: Pick<WorkflowOutboundCallsInterceptor, 'startChildWorkflowExecution' | 'continueAsNew'>;
  /** `headers` belong to the run. */
  begin(headers: Headers): void;
  /** Reports of open children are ignored from now on. */
  end(): void;
}

export function workStateNow(): TurnWorkState {
  return workflowInfo().typedSearchAttributes.get(STATE) === 'waiting_approval'
    ? 'waiting_approval'
    : 'running';
}

export function createApprovalWaits(): ApprovalWaits {
  const reports = new Map<string, Omit<Report, 'child'>>();
  const { workflowId, workflowType } = workflowInfo();
  let reportsTo: string | undefined;

  function show(): void {
    const waits = [...reports.values()].some((report) => report.waits);
    const state: TurnWorkState = waits ? 'waiting_approval' : 'running';
    if (state === workStateNow()) return;
    upsertSearchAttributes([{ key: STATE, value: state }]);
    if (reportsTo !== undefined) send(reportsTo, { child: workflowId, waits, at: Date.now() });
  }

  function note(child: string, waits: boolean): void {
    reports.set(child, { waits, at: Date.now() });
    show();
  }

  function take(report: unknown): void {
    if (!isReport(report)) return log.warn('a report that cannot be read');
    const { child, waits, at } = report;
    const known = reports.get(child);
    if (known ? known.at > at : reports.size >= MAX_CHILDREN) return;
    reports.set(child, { waits, at });
    show();
  }

  /** The replacement of a steered subagent reports to the same workflow, because the old one ends. */
  function targetOf(type: string): string | undefined {
    return type === SUBAGENT && workflowType === SUBAGENT ? reportsTo : workflowId;
  }

  return {
    outbound: {
      startChildWorkflowExecution(input, next) {
        const { workflowType: type, options } = input;
        const { workflowId: child } = options;
        if (type === APPROVAL.type) note(child, true);
        const starting = next({ ...input, headers: withTarget(input.headers, targetOf(type)) });
        const onEnd = (): void => {
          if (reports.has(child)) note(child, false);
        };
        void starting.then(([, completed]) => completed.then(onEnd, onEnd));
        return starting;
      },
      continueAsNew: (input, next) => next({ ...input, headers: withTarget(input.headers, reportsTo) }),
    },
    begin(headers) {
      const payload = headers[HEADER];
      const target: unknown = payload && defaultPayloadConverter.fromPayload(payload);
      if (isText(target, MAX_OF_ID)) reportsTo = target;
      setHandler(reportSignal, take);
      // A run that continues another has its state, and receives no more reports of the other one's children.
      show();
    },
    end() {
      reports.clear();
      show();
    },
  };
}

const SUBAGENT = ASSIGNMENT.types.subagent;

function withTarget(headers: Headers, target: string | undefined): Headers {
  return target === undefined ? headers : { ...headers, [HEADER]: defaultPayloadConverter.toPayload(target) };
}

function isReport(report: unknown): report is Report {
  if (!isRecord(report)) return false;
  const { child, waits, at } = report;
  return isText(child, MAX_OF_ID) && typeof waits === 'boolean' && typeof at === 'number';
}

/** A workflow that has ended shows nothing any more. */
function send(workflowId: string, report: Report): void {
  CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(workflowId).signal(reportSignal, report),
  ).catch((problem: unknown) => log.debug('a report found nobody', { workflowId, problem: String(problem) }));
}
