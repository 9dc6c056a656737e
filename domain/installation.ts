/**
 * Which installation a namespace of Temporal belongs to. A workflow run that never starts exists as long as the
 * namespace does, and its memo contains the id of the installation's database. It is a workflow because every server
 * has workflows, but not everybody may write the data of namespaces.
 */
export const INSTALLATION = {
  type: 'installation',
  workflowId: 'installation',
  memo: 'installation',
} as const;

/** Two databases use one namespace, so each would run the other's turns. The message is for an operator. */
export class ForeignNamespace extends Error {
  override readonly name = 'ForeignNamespace';

  constructor(namespace: string, holder: string | undefined) {
    super(
      holder === undefined
        ? `The Temporal namespace ${namespace} is not this installation's: no start has taken it yet. Run \`tempoclaw up --setup-only\` with the ` +
            'same TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and DATABASE_URL, or start the API again.'
        : `The Temporal namespace ${namespace} belongs to another installation of TempoClaw, which has another database. Set TEMPORAL_NAMESPACE ` +
            'to a namespace that no other uses, or DATABASE_URL to the database of that installation. If that one is gone for good, free the ' +
            `namespace: temporal workflow terminate --namespace ${namespace} --workflow-id ${INSTALLATION.workflowId}`,
    );
  }
}
