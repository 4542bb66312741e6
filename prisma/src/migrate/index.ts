export { checkMigrations, type MigrationCheck } from './check-migrations.ts'
export { createMigration } from './create-migration.ts'
export { deployMigrations } from './deploy-migrations.ts'
export { setUpRoles } from './set-up-roles.ts'
