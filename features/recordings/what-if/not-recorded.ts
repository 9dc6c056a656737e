/** What the model reads in place of a result. It is the same each time, so that such calls can be counted. */
export const NOT_RECORDED =
  'ExecutionFailed: this call is not in the recording, so it has not run and has no result. Go on without it.';
