export { deployMigrations } from './deploy-migrations.ts'
export { setUpRoles } from './set-up-roles.ts'
