/** Names another run to compare with. */
import { hrefOf, navigate } from '../../app/router.ts';

export function CompareForm({ id }: { readonly id: string }) {
  const compare = (event: SubmitEvent): void => {
    event.preventDefault();
    const other = new FormData(event.currentTarget as HTMLFormElement).get('other');
    navigate(hrefOf('runs', id, 'compare', String(other).trim()));
  };
  return (
    <form class="check" onSubmit={compare}>
      <input name="other" required pattern=".*\S.*" aria-label="The id of another run" placeholder="turn_…" />
      <button type="submit">Compare</button>
    </form>
  );
}
