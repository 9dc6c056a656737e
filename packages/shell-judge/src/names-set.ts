/**
 * Variables that the shell sets other than by assignments: by loops and coprocesses, in arithmetic, by `${x:=…}` and
 * `{x}>file`.
 */
import type { ArithmeticExpression, Redirection, SyntaxNode } from 'unbash';

const ASSIGNS = /^(?:[-+*/%&|^]|<<|>>)?=$/;

/** Names that the node itself sets, without those of its children. */
export function namesSet(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'For':
    case 'Select':
      return [node.name.value];
    case 'Coproc':
      return node.name ? [node.name.value, `${node.name.value}_PID`] : [];
    case 'ParameterExpansion':
      return node.operation?.type === 'Default' && /^:?=$/.test(node.operation.operator)
        ? [node.parameter]
        : [];
    case 'ArithmeticBinary':
      return ASSIGNS.test(node.operator) ? nameOf(node.left) : [];
    case 'ArithmeticUnary':
      return /^(?:\+\+|--)$/.test(node.operator) ? nameOf(node.operand) : [];
    default:
      return [];
  }
}

/** The name in a redirection for which the shell chooses a descriptor. */
export function descriptorName({ descriptor }: Redirection): readonly string[] {
  return descriptor?.type === 'FileDescriptorVariable' ? [descriptor.name] : [];
}

function nameOf(target: ArithmeticExpression): readonly string[] {
  if (target.type === 'ArithmeticGroup') return nameOf(target.expression);
  return target.type === 'ArithmeticWord' ? [target.value] : [];
}
