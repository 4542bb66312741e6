import { exportFormat as format } from './export-format.ts'
import { listOrganizationRunsQuery, listRunsQuery } from './run.ts'
import { listTasksQuery } from './task.ts'

const place = { limit: true, cursor: true } as const

/** The query of an export of runs: the filters of the list. */
export const exportRunsQuery = listRunsQuery.omit(place).extend(format)

/** The same over all workspaces of an organization. */
export const exportOrganizationRunsQuery = listOrganizationRunsQuery.omit(place).extend(format)

/** The query of an export of tasks: the filters of the list. */
export const exportTasksQuery = listTasksQuery.omit(place).extend(format)
