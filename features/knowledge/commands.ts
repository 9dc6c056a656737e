/**
 * Implements `tempoclaw knowledge`: what agents know of people, places and things, by the definitions of both
 * resources.
 */
import type { Command } from 'commander';
import { knowledgeEntities, knowledgeRelations } from './resource.ts';
import { addCommands } from '#cli/api-commands.ts';

export function register(knowledge: Command): void {
  const entities = knowledge.command('entities').description('people, places and things that memory names');
  addCommands(entities, knowledgeEntities);
  const relations = knowledge
    .command('relations')
    .description('how they relate, each with its time and source');
  addCommands(relations, knowledgeRelations);
}
