-- Up Migration
-- What holds for all agents of a tenant (PO-1): `TenantPolicy` of domain/tenant.ts.
alter table tenants add column policy jsonb;
