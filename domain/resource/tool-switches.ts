/** Built-in tools that are switched on and off for all agents of a tenant, at GoClaw's address. */
import { z } from 'zod';
import { defineResource, operation } from './define-resource.ts';

const path = '/v1/tools/builtin/:name/tenant-config';

export const switchSchema = z.object({
  name: z.string(),
  enabled: z.boolean().describe('False: no agent of the tenant has it, whatever its own rules say'),
});

const one = { path, params: z.object({ name: z.string() }), findsFirst: true } as const;

export const toolSwitches = defineResource(
  {
    path,
    tag: 'tools',
    item: switchSchema,
    key: 'name',
    isDefinition: true,
    missing: 'There is no tool of this name that is part of TempoClaw; GET /v1/tools/builtin lists them',
  },
  () => ({
    getToolSwitch: operation({
      ...one,
      method: 'GET',
      scope: 'read',
      summary: 'Whether a tenant has a tool',
      answer: switchSchema,
      command: { by: 'policy show' },
    }),
    setToolSwitch: operation({
      ...one,
      method: 'PUT',
      scope: 'admin',
      summary: 'Switch a tool on or off for a tenant',
      description:
        'A change of the policy: it holds for every call that is judged from now on, and stands in its history.',
      body: z
        .strictObject({
          enabled: z.boolean(),
          settings: z
            .record(z.string(), z.unknown())
            .refine(
              (settings) => Object.keys(settings).length === 0,
              'tools have no settings of a tenant; its exec, egress and rules are in PUT /v1/policy',
            )
            .nullish(),
        })
        .meta({ examples: [{ enabled: false }] }),
      answer: switchSchema,
      command: {
        word: 'disable',
        help: 'switch a tool off for all agents of the tenant',
        sends: () => ({ enabled: false }),
        says: ({ name }) => `No agent of the tenant has ${name} now.`,
      },
    }),
    deleteToolSwitch: operation({
      ...one,
      method: 'DELETE',
      scope: 'admin',
      summary: 'Let a tenant have a tool again',
      answer: z.null(),
      status: 204,
      command: { by: 'tools enable' },
    }),
  }),
);
