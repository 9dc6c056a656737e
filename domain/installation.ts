/**
 * Which installation a namespace of Temporal belongs to: a run that never begins stands there for as long as it does, and names in its memo
 * the id that the installation's database was made with. Every server has workflows; data of namespaces are not everybody's to write.
 */
export const INSTALLATION = {
  type: 'installation',
  workflowId: 'installation',
  memo: 'installation',
} as const;

/** Two databases meet in one namespace, where one would take the other's turns. Its words are for an operator. */
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
