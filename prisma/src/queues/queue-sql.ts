/** SQL: what a changed task waits for. Its queue decides again at the claim. A held task stays held. */
export const unblocked = 'CASE waits_for WHEN 1 THEN 0 ELSE waits_for END'

/** Returns the SQL for the id of a queue, from its workspace and its name; null without a name. */
export function queueIdOf(workspace: string, name: string): string {
  return `CASE WHEN ${name} IS NOT NULL THEN md5(${workspace}::text || ' ' || ${name})::uuid END`
}
