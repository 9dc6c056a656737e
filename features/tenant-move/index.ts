/** What features that store objects of tenants use for a tenant that moves. */
export { type MovedObjects, type MovedObjectsParts, storedObjects } from './moved-objects.ts';
