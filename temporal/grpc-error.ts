/** Reads an error of Temporal's service, also when the SDK has wrapped it. */
import { isGrpcServiceError } from '@temporalio/client';

/** Status codes of gRPC that decide which error a caller gets. */
export const GRPC = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNAUTHENTICATED: 16,
} as const;

export function grpcCode(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  return error instanceof Error && error.cause !== undefined ? grpcCode(error.cause) : undefined;
}

/** What the server said. For an update-with-start only the message has the reason. */
export function grpcDetails(error: unknown): string {
  if (isGrpcServiceError(error)) return `${error.details ?? ''} ${error.message}`;
  return error instanceof Error && error.cause !== undefined ? grpcDetails(error.cause) : '';
}
