/** Writes of rows with unique names: a name that is taken is a result, not an error. */

const UNIQUE_VIOLATION = '23505';

/** The row that was written; `taken` when another row has its name; otherwise `unwritten` says why there is none. */
export async function unlessTaken<Row, Unwritten extends string>(
  unwritten: Unwritten,
  writing: Promise<Row | undefined>,
): Promise<Row | 'taken' | Unwritten> {
  try {
    return (await writing) ?? unwritten;
  } catch (error) {
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return 'taken';
    throw error;
  }
}
