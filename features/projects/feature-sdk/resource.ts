/** `tempoclaw/feature/resource`: operations of the API, each with its command. */
export { z } from 'zod';
export { defineResource, operation, type Resource } from '#domain/resource/define-resource.ts';
export { idSchema, jsonObjectSchema, nameSchema, textSchema, timeSchema } from '#domain/schema/scalars.ts';
