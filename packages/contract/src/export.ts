import { z } from 'zod'
import { listOrganizationRunsQuery, listRunsQuery } from './run.ts'
import { listTasksQuery } from './task.ts'

/** The parameter of an export that chooses its format. */
export const exportFormat = {
  format: z
    .enum(['csv', 'jsonl'])
    .default('csv')
    .meta({ description: 'CSV with a header line, or one JSON object per line.' }),
}

/** The media types of an export, by its format. */
export const exportMediaTypes = { csv: 'text/csv', jsonl: 'application/x-ndjson' }

export const exportTypes = Object.values(exportMediaTypes)

const place = { limit: true, cursor: true } as const

/** The query of an export of runs: the filters of the list. */
export const exportRunsQuery = listRunsQuery.omit(place).extend(exportFormat)

/** The same over all workspaces of an organization. */
export const exportOrganizationRunsQuery = listOrganizationRunsQuery.omit(place).extend(exportFormat)

/** The query of an export of tasks: the filters of the list. */
export const exportTasksQuery = listTasksQuery.omit(place).extend(exportFormat)
