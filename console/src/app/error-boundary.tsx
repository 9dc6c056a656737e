/** Shows what is wrong with one page, in place of an empty window. */
import { Component, type ComponentChildren } from 'preact';
import { Button } from '../components/button.tsx';

export class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <section class="notice" role="alert">
        <h1>This page has failed</h1>
        <p>{error instanceof Error ? error.message : String(error)}</p>
        <p>A new version may have been installed since it was opened.</p>
        <Button onClick={() => location.reload()}>Reload</Button>
      </section>
    );
  }
}
